package heddle.bridge;

import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Queue;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CSQueue;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/** YARN's words in ours, and back. */
final class Yarn {
  private Yarn() {}

  static App app(ApplicationId id) {
    return new App(id.getClusterTimestamp(), id.getId());
  }

  static Ask ask(ApplicationId app, SchedulerRequestKey key) {
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
    return new Size(resource.getMemorySize(), (long) resource.getVirtualCores() * Size.MILLI);
  }

  static String name(SchedulerNode node) {
    return node.getNodeID().toString();
  }

  /** The full name of the leaf that an application is in. */
  static String leaf(SchedulerApplicationAttempt app) {
    Queue queue = app.getQueue();
    return queue instanceof CSQueue ? ((CSQueue) queue).getQueuePath() : queue.getQueueName();
  }
}
