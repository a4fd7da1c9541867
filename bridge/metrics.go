//go:build !js

package bridge

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

const namespace = "brontosig_bridge"

// meter counts what happens. It works whether somebody collects it or not.
type meter struct {
	accepted               prometheus.Counter
	refused, ended         *prometheus.CounterVec
	fromClient, fromTarget prometheus.Counter
	dialSeconds            prometheus.Histogram
}

// newMeter makes the metrics, and registers them if there is a registry.
func newMeter(r prometheus.Registerer, l *limits) (*meter, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help},
			func() float64 { return float64(value()) })
	}
	bytes := counter("bytes_total", "Bytes that were carried.", "from")
	accepted := counter("connections_total", "Connections that were made to a node.")
	m := &meter{
		accepted:   accepted.WithLabelValues(),
		refused:    counter("refused_total", "Attempts that were refused or failed.", "status", "reason"),
		ended:      counter("ended_total", "Connections that have ended.", "code", "reason"),
		fromClient: bytes.WithLabelValues("client"),
		fromTarget: bytes.WithLabelValues("node"),
		dialSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "dial_seconds", Help: "Time that successful dials took, look-up included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}),
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		accepted, m.refused, m.ended, bytes, m.dialSeconds,
		gauge("connections", "Connections that are open or being made.", func() int { total, _, _ := l.state(); return total }),
		gauge("dials", "Dials in flight.", func() int { _, dials, _ := l.state(); return dials }),
		gauge("capacity", "The most connections that there may be.", func() int { return l.caps.total }),
	} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *meter) refuse(why *refusal) {
	m.refused.WithLabelValues(strconv.Itoa(why.status), why.reason).Inc()
}

func (m *meter) end(e ending) {
	m.ended.WithLabelValues(strconv.Itoa(int(e.code)), e.reason).Inc()
}
