package heddle.bridge;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** What the bridge has done so far. */
final class Counters {
  final LongAdder walks = new LongAdder(); // by a table
  final LongAdder stockWalks = new LongAdder(); // without one
  final LongAdder offers = new LongAdder(); // of a request
  final LongAdder vetoed = new LongAdder();
  final LongAdder held = new LongAdder();
  final LongAdder errors = new LongAdder();
  final LongAdder refused = new LongAdder(); // tables
  final LongAdder accepted = new LongAdder();
  final LongAdder nanos = new LongAdder(); // added to walks by a table
  final AtomicLong slowest = new AtomicLong();
  final AtomicLongArray walksByLog2Ns = new AtomicLongArray(40);
  final Latest namedAfterUs = new Latest(); // from when a request was asked to the first table that names it
  volatile String lastError = "";

  void walked(long ns) {
    walks.increment();
    nanos.add(ns);
    slowest.accumulateAndGet(ns, Math::max);
    walksByLog2Ns.incrementAndGet(Math.min(39, 63 - Long.numberOfLeadingZeros(Math.max(1, ns))));
  }
}
