package heddle.bridge;

/** Turns the bridge off when too much goes wrong within a minute: until told otherwise all is stock. */
final class Breaker {
  static final int MOST = 10;
  static final long WITHIN_NS = 60_000_000_000L;
  static final long SLOW_NS = 5_000_000;
  private final long[] errors = new long[MOST];
  private final long[] slow = new long[MOST];
  private long errorCount, slowCount;
  private volatile String why = ""; // it is off; empty: it is on

  synchronized void failed(Throwable problem, long nowNs) {
    errorCount = note(errors, errorCount, nowNs, "errors, the last: " + problem);
  }

  /** `ns`: what one walk took of its thread's time. */
  void took(long ns, long nowNs) {
    if (ns > SLOW_NS) {
      synchronized (this) {
        slowCount = note(slow, slowCount, nowNs, "walks took more than 5 ms");
      }
    }
  }

  boolean isOff() {
    return !why.isEmpty();
  }

  String why() {
    return why;
  }

  synchronized void turnOn() {
    errorCount = slowCount = 0;
    why = "";
  }

  private long note(long[] times, long count, long nowNs, String what) {
    int place = (int) (count % MOST);
    times[place] = nowNs;
    long oldest = times[(place + 1) % MOST];
    if (count + 1 >= MOST && nowNs - oldest <= WITHIN_NS && why.isEmpty()) {
      why = MOST + " within a minute: " + what;
    }
    return count + 1;
  }
}
