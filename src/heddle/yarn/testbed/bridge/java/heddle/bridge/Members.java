package heddle.bridge;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.SchedulableEntity;

/**
 * The applications of a leaf, kept as they come and go: a walk that looked through all of them to find one would cost more
 * than stock YARN, which most often stops at the first.
 */
final class Members<S extends SchedulableEntity> {
  private final Map<App, S> byApp = new ConcurrentHashMap<>();
  private final Map<App, S> starting = new ConcurrentHashMap<>(); // those that may still wait for their AM

  void add(S entity) {
    if (entity instanceof SchedulerApplicationAttempt) {
      App app = appOf(entity);
      byApp.put(app, entity);
      starting.put(app, entity);
    }
  }

  void remove(S entity) {
    if (entity instanceof SchedulerApplicationAttempt) {
      App app = appOf(entity);
      byApp.remove(app, entity); // not another attempt, which may be there already
      starting.remove(app, entity);
    }
  }

  /** Null: it is not in this leaf. */
  S get(App app) {
    return byApp.get(app);
  }

  /** Whether an AM waits that the table does not name. */
  boolean haveUnnamedAm(Table table) {
    boolean found = false;
    for (Iterator<Map.Entry<App, S>> all = starting.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<App, S> one = all.next();
      if (!attempt(one.getValue()).isWaitingForAMContainer()) {
        all.remove(); // it never will again
      } else if (!table.names(one.getKey())) {
        found = true;
      }
    }
    return found;
  }

  static App appOf(SchedulableEntity entity) {
    return Yarn.app(attempt(entity).getApplicationId());
  }

  static SchedulerApplicationAttempt attempt(SchedulableEntity entity) {
    return (SchedulerApplicationAttempt) entity;
  }
}
