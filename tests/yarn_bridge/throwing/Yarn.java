package heddle.bridge;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/** The bridge's Yarn, but for what it throws: each kind of Throwable in turn, wherever the bridge has to do with YARN. */
final class Yarn {
  private static final AtomicInteger CALLS = new AtomicInteger();
  private static final int WALKS_FIRST = 20; // a leaf that does not know its applications is never walked

  private Yarn() {}

  private static void fail() {
    switch (CALLS.getAndIncrement() % 6) {
      case 0:
        throw new IllegalStateException("thrown by a test");
      case 1:
        throw new NoClassDefFoundError("thrown by a test");
      case 2:
        throw new StackOverflowError("thrown by a test");
      case 3:
        throw new OutOfMemoryError("thrown by a test");
      case 4:
        throw new AssertionError("thrown by a test");
      default:
        Yarn.<RuntimeException>sneak(new IOException("thrown by a test"));
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneak(Throwable problem) throws T {
    throw (T) problem;
  }

  static App app(ApplicationId id) {
    if (CALLS.get() >= WALKS_FIRST) {
      fail();
    }
    return new App(id.getClusterTimestamp(), id.getId());
  }

  static Ask ask(ApplicationId app, SchedulerRequestKey key) {
    fail();
    return new Ask(app(app), key.getPriority().getPriority(), key.getAllocationRequestId());
  }

  static SchedulerRequestKey key(Request request) {
    Object known = request.known;
    if (known == null) {
      known = new SchedulerRequestKey(Priority.newInstance(request.ask.priority), request.ask.allocation, null);
      request.known = known;
    }
    return (SchedulerRequestKey) known;
  }

  static Size size(Resource resource) {
    fail();
    return new Size(resource.getMemorySize(), (long) resource.getVirtualCores() * Size.MILLI);
  }

  static String name(SchedulerNode node) {
    return node.getNodeID().toString();
  }

  /** The full name of the leaf that an application is in. */
  static String leaf(SchedulerApplicationAttempt app) {
    fail();
    Queue queue = app.getQueue();
    return queue instanceof CSQueue ? ((CSQueue) queue).getQueuePath() : queue.getQueueName();
  }
}
