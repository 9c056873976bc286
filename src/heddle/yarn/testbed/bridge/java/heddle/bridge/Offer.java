package heddle.bridge;

import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/**
 * What a walk over requests has just handed out on this thread: an application, and which of its requests may have the
 * node. YARN asks the allocators of that application next, on the same thread. A walk that YARN abandons leaves its offer
 * behind: it concerns nobody but its application, and the next walk replaces it.
 */
final class Offer {
  private static final ThreadLocal<Offer> ON_THREAD = new ThreadLocal<>();

  enum To {
    NOBODY, // only to find out which node it is: YARN does not tell
    ONE,
    UNKNOWN, // those that the table does not name
    ALL
  }

  ApplicationId app;
  String queue; // where it was then: one that was moved is not bound by it
  To to;
  SchedulerRequestKey key; // of ONE
  SchedulerNode node; // the answer to NOBODY
  boolean elsewhere; // the answer to NOBODY, where several nodes are offered at once

  static Offer onThread() {
    return ON_THREAD.get();
  }

  void put() {
    ON_THREAD.set(this);
  }

  static void clear() {
    ON_THREAD.remove();
  }
}
