package org.apache.hadoop.yarn.sls.appmaster;

import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.sls.AMDefinition;
import org.apache.hadoop.yarn.sls.AMDefinitionFactory;
import org.apache.hadoop.yarn.sls.AMRunner;
import org.apache.hadoop.yarn.sls.SLSRunner;
import org.apache.hadoop.yarn.sls.scheduler.TaskRunner;

/**
 * Runs Hadoop's scheduler load simulator on a trace and tells when each job began and ended.
 *
 * <p>SchedulerLoad TRACE NODES TIMES. Hadoop's classes are used as they are; what of 3.4.2 does not work is gone around:
 * its own main() fails on a missing configuration, its reader of SLS traces takes every value for text, so that the
 * list of a job's tasks makes it drop the job, and its measuring of the scheduler, which also writes down when jobs
 * ended, now and then loses one on a busy machine. So the trace is read here, jobs are handed over, and each tells
 * itself when it has ended.
 *
 * <p>It stands in Hadoop's package because an AM's own container can be seen from there only.
 */
public final class SchedulerLoad {
  private static final long LOOK_EVERY_MS = 20;

  private SchedulerLoad() {}

  public static void main(String[] arguments) throws Exception {
    // What fails in one of its threads is a failed run, not one that takes for ever.
    Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
      error.printStackTrace();
      Runtime.getRuntime().halt(1);
    });
    Path times = Path.of(arguments[2]);
    Configuration conf = new Configuration();
    SLSRunner simulator = new SLSRunner(conf);
    TracedJobs jobs = new TracedJobs(simulator, Path.of(arguments[0]));
    jobs.takeOver();
    simulator.setSimulationParams(SLSRunner.TraceType.SLS, new String[0], arguments[1], times.getParent().toString(),
        Collections.emptySet(), false);
    simulator.start();
    while (TimedJob.ENDED.size() < jobs.getNumAMs()) {
      Thread.sleep(LOOK_EVERY_MS);
    }
    try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(times, StandardCharsets.UTF_8))) {
      TimedJob.ENDED.forEach((job, began) -> out.println(job + "\t" + began[0] + "\t" + began[1]));
    }
    // Its daemons have nothing left to do, and stopping them in good order takes seconds.
    Runtime.getRuntime().halt(0);
  }

  private static Field field(Class<?> owner, String name) throws NoSuchFieldException {
    Field found = owner.getDeclaredField(name);
    found.setAccessible(true);
    return found;
  }

  /** Hadoop's runner of jobs, which is told its jobs instead of reading them. */
  static final class TracedJobs extends AMRunner {
    private final SLSRunner simulator;
    private final Path trace;

    TracedJobs(SLSRunner simulator, Path trace) throws ReflectiveOperationException {
      super((TaskRunner) field(SLSRunner.class, "runner").get(null), simulator);
      this.simulator = simulator;
      this.trace = trace;
    }

    /** From now on the simulator's jobs are these. */
    void takeOver() throws ReflectiveOperationException {
      init(simulator.getConf());
      field(SLSRunner.class, "amRunner").set(simulator, this);
    }

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public void startAM() throws YarnException, IOException {
      try (MappingIterator<Map> jobs = new ObjectMapper().readerFor(Map.class).readValues(trace.toFile())) {
        Method start = AMRunner.class.getDeclaredMethod("startAMs", AMDefinition.class);
        start.setAccessible(true);
        while (jobs.hasNext()) {
          start.invoke(this, AMDefinitionFactory.createFromSlsTrace(jobs.next(), simulator));
        }
      } catch (InvocationTargetException error) {
        throw new YarnException(error.getCause());
      } catch (ReflectiveOperationException error) {
        throw new YarnException("this Hadoop's load simulator is another than the one known", error);
      }
      super.startAM(); // it has no trace of its own to read, and counts what is there
    }

    /** A job is entered just after it was submitted: the ResourceManager may be quicker. */
    @Override
    public AMSimulator getAMSimulator(ApplicationId job) {
      AMSimulator found = super.getAMSimulator(job);
      while (found == null) {
        Thread.onSpinWait();
        found = super.getAMSimulator(job);
      }
      return found;
    }
  }

  /** Hadoop's MapReduce job, which remembers when it began and ended. */
  public static final class TimedJob extends MRAMSimulator {
    static final Map<String, long[]> ENDED = new ConcurrentHashMap<>();

    @Override
    public void lastStep() throws Exception {
      if (ENDED.containsKey(oldAppId)) {
        return;
      }
      // Hadoop lets the AM's container end before the job is told to be done; a heartbeat of the node in between
      // makes the ResourceManager take the job for failed. So that comes last.
      Container own = amContainer;
      amContainer = null;
      super.lastStep();
      amContainer = own;
      se.getNmMap().get(own.getNodeId()).cleanupContainer(own.getId());
      ENDED.put(oldAppId, new long[] {simulateStartTimeMS, simulateFinishTimeMS});
    }
  }
}
