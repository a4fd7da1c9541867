package brontide

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// publishedFigures may hold the figures of BOLT-8 in another layout. The project
// does not carry that file; its own table has the same figures.
const publishedFigures = "../../shared/vectors/bolt8.json"

// TestFiguresComplete checks that the project's table misses none of the
// published figures: every string of hexadecimal digits there is here too.
func TestFiguresComplete(t *testing.T) {
	data, err := os.ReadFile(publishedFigures)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the published figures are not beside the project")
	}
	requireNil(t, err)
	own := must[[]byte](t)(os.ReadFile("../testdata/bolt8.json"))
	var published any
	requireNil(t, json.Unmarshal(data, &published))
	count := 0
	walkStrings(published, func(s string) {
		if len(s) < 10 || strings.Trim(s, "0123456789abcdef") != "" {
			return
		}
		count++
		if !strings.Contains(string(own), `"`+s+`"`) {
			t.Errorf("%s is missing", s)
		}
	})
	// Six keys, three acts, three derived keys, 13 refused acts, a message and
	// its six packets.
	if count != 32 {
		t.Fatalf("%d figures", count)
	}
}

// walkStrings calls visit with every string in a decoded JSON value.
func walkStrings(value any, visit func(string)) {
	switch value := value.(type) {
	case string:
		visit(value)
	case []any:
		for _, v := range value {
			walkStrings(v, visit)
		}
	case map[string]any:
		for _, v := range value {
			walkStrings(v, visit)
		}
	}
}
