package heddle.bridge;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * All that the bridge remembers, for as long as the ResourceManager lives; nothing is written anywhere. YARN makes
 * ordering policies and allocators anew as it likes, so that they keep nothing themselves. Scheduler threads read the table
 * without a lock, a web thread replaces it. When its lease is over current() is null, and everything is as in stock YARN.
 */
final class Bridge {
  static final String INSTANCE = UUID.randomUUID().toString(); // a table for an earlier ResourceManager is not for this one
  static final Breaker BREAKER = new Breaker();
  static final Newcomers NEWCOMERS = new Newcomers();
  static final Counters COUNTERS = new Counters();
  static final Allocations ALLOCATIONS = new Allocations();
  static final AtomicInteger ASKED = new AtomicInteger();
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final boolean TELLS_CPU = THREADS.isCurrentThreadCpuTimeSupported();
  private static volatile Leased leased;
  private static long lastVersion;

  private static final class Leased {
    final Table table;
    final long endsAtNs;

    Leased(Table table) {
      this.table = table;
      this.endsAtNs = System.nanoTime() + table.leaseMs * 1_000_000;
    }
  }

  private Bridge() {}

  static Table current() {
    Leased now = leased;
    return now == null || System.nanoTime() - now.endsAtNs >= 0 || BREAKER.isOff() ? null : now.table;
  }

  /** For how long the table still holds; 0: there is none. */
  static long leftMs() {
    Leased now = leased;
    return now == null ? 0 : Math.max(0, (now.endsAtNs - System.nanoTime()) / 1_000_000);
  }

  /** Whoever changes anything says a larger number than ever before: what was said once is not heard again. */
  static synchronized boolean isNew(long version) {
    if (version <= lastVersion) {
      return false;
    }
    lastVersion = version;
    return true;
  }

  static synchronized long lastVersion() {
    return lastVersion;
  }

  static void accept(Table table) {
    leased = new Leased(table);
    COUNTERS.accepted.increment();
    try {
      NEWCOMERS.settle(table, COUNTERS.namedAfterUs); // it asks YARN
    } catch (Throwable problem) {
      failed(problem);
    }
  }

  static void drop() {
    leased = null;
  }

  /** Something of ours went wrong inside YARN. Never throws: not even where memory or stack have run out. */
  static void failed(Throwable problem) {
    try {
      COUNTERS.errors.increment();
      BREAKER.failed(problem, System.nanoTime());
      COUNTERS.lastError = problem.toString();
    } catch (Throwable worse) {
      leased = null;
    }
  }

  /** What this thread has computed so far. Not the time that passed: on a busy machine that is others' doing. */
  static long threadNs() {
    return TELLS_CPU ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
  }

  static void walked(long ns) {
    COUNTERS.walked(ns);
    BREAKER.took(ns, System.nanoTime());
  }
}
