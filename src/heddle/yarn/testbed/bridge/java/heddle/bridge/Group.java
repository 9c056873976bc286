package heddle.bridge;

import java.util.concurrent.atomic.AtomicLong;

/** Requests of one leaf and one size, the first to go first: only the first that waits can be the best of them. */
final class Group {
  final Size size;
  final Request[] requests;
  // Up to here nobody waits any more; counts only as long as nobody has asked since (the upper half says when). Without
  // it, every decision would step again over all that were served since the table came.
  private final AtomicLong served = new AtomicLong();

  Group(Size size, Request[] requests) {
    this.size = size;
    this.requests = requests;
  }

  /** The first that still waits; requests.length: none does. */
  int first(Host host) {
    int asked = host.asked();
    long seen = served.get();
    int i = (int) (seen >>> 32) == asked ? (int) seen : 0;
    while (i < requests.length && !host.waits(requests[i], size)) {
      i++;
    }
    served.compareAndSet(seen, ((long) asked << 32) | i);
    return i;
  }
}
