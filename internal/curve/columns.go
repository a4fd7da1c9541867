package curve

// columnTerms is from how many terms on it is faster to add up first what the terms
// have at the same digit.
const columnTerms = 6

// addColumnsNonConst adds everything to an empty sum, or returns false and adds
// nothing: what all of them have at one digit is added up in affine coordinates, and
// the sum takes that. An affine addition costs two thirds of another one if the
// inversion that it needs is shared. Here many are done together, of all digits. They
// do not hold for equal and opposite points.
func (s *interleaving) addColumnsNonConst(sum *accumulator) bool {
	var ends [halfDigits]int
	end := 0
	for i := range ends {
		for j := range s.halves {
			if s.halves[j].digits[i] != 0 {
				end++
			}
		}
		ends[i] = end
	}
	if len(s.points) < end {
		s.points = make([]Point, end)
	}
	points := s.points[:end]
	var columns [halfDigits][]Point
	end = 0
	for i := range columns {
		column := points[end:ends[i]]
		columns[i], end = column, ends[i]
		for j := range s.halves {
			if s.halves[j].digits[i] != 0 {
				p, sign := s.at(j, i)
				column[0].x = p.x
				setSigned(&column[0].y, &p.y, sign)
				column = column[1:]
			}
		}
	}
	if !addUpNonConst(columns[:], make([]element, len(points)/2)) {
		return false
	}
	doublings := 0
	for i := halfDigits - 1; i >= 0; i-- {
		doublings++
		if len(columns[i]) > 0 {
			sum.doubleAndAddNonConst(doublings, &columns[i][0], 1)
			doublings = 0
		}
	}
	sum.doubleNonConst(doublings)
	return true
}

// addUpNonConst sets the first point of every column to the sum of the column, and
// overwrites the others. It returns false if it has met equal or opposite points.
// products is memory for half as many elements as there are points.
func addUpNonConst(columns [][]Point, products []element) bool {
	// In every round, points that are stride apart are added in pairs, the last one
	// perhaps being left, so that the sums are twice that apart.
	for stride := 1; ; stride *= 2 {
		all, count := one, 0
		for _, column := range columns {
			for i := 0; i+stride < len(column); i += 2 * stride {
				products[count] = all
				gap(&all, &column[i], &column[i+stride])
				count++
			}
		}
		if count == 0 {
			return true
		}
		if all.isZeroNonConst() {
			return false
		}
		inverse(&all, &all)
		for j := len(columns) - 1; j >= 0; j-- {
			column := columns[j]
			pairs := (len(column) + stride - 1) / (2 * stride)
			for i := (pairs - 1) * 2 * stride; i >= 0; i -= 2 * stride {
				count--
				chord(&column[i], &column[i], &column[i+stride], &all, &products[count])
			}
		}
	}
}
