/**
 * How many reduces an AM asks for while maps still run, and when it gives containers back: Hadoop's rule, in the words
 * and with the defaults of docs/semantics.md, "When MapReduce asks for reduces". Amounts are memory in MB and vcores.
 */
final class EarlyRule {
  private static final int RAMP_UP_PERMILLE = 500;
  private static final int PREEMPTION_PERMILLE = 500;

  /** What one look finds of one stage. */
  static final class Look {
    final int[] size; // of one reduce
    final long[] headroom; // without what the job's other reduces have asked for
    int slowStartPermille;
    int maps;
    int mapsDone;
    int running;
    int asked;
    int pending;
    final long[] waitingMaps = new long[2];
    final long[] runningMaps = new long[2];
    final long[] askedMaps = new long[2];
    int[] oneAskedMap; // null: none is asked for

    Look(int[] size, long[] headroom) {
      this.size = size;
      this.headroom = headroom;
    }
  }

  private EarlyRule() {}

  /** Whether maps that starve have no room even for one of them. */
  static boolean givesWay(Look look) {
    for (int r = 0; r < 2; r++) {
      int one = look.oneAskedMap == null ? 0 : look.oneAskedMap[r];
      if (one > 0 && look.headroom[r] - (long) look.asked * look.size[r] < one) {
        return true;
      }
    }
    return false;
  }

  /** How many containers of a stage that gives way end. */
  static int toEnd(Look look) {
    long[] one = new long[2];
    long[] limit = new long[2];
    for (int r = 0; r < 2; r++) {
      one[r] = look.oneAskedMap[r];
      limit[r] = (look.headroom[r] + (long) look.running * look.size[r]) * PREEMPTION_PERMILLE / 1000;
    }
    long most = Math.max(containers(one, look.size), containers(limit, look.size));
    return (int) Math.min(look.running, Math.min(most, containers(look.askedMaps, look.size)));
  }

  /** How many more are asked for; below 0: how many requests are taken back. */
  static int toAsk(Look look) {
    if (look.pending == 0 || look.mapsDone * 1000L < (long) look.slowStartPermille * look.maps) {
      return 0;
    }
    if (look.waitingMaps[0] == 0 && look.waitingMaps[1] == 0) {
      return look.pending;
    }
    long[] limit = new long[2];
    long[] ideal = new long[2];
    boolean mapsHaveEnough = true;
    for (int r = 0; r < 2; r++) {
      limit[r] = look.headroom[r] + look.runningMaps[r] + (long) look.running * look.size[r];
      ideal[r] = Math.min(limit[r] * look.mapsDone / look.maps, limit[r] * RAMP_UP_PERMILLE / 1000);
      mapsHaveEnough &= limit[r] - ideal[r] >= look.waitingMaps[r] + look.runningMaps[r];
    }
    long more = look.pending;
    for (int r = 0; r < 2; r++) {
      long room = mapsHaveEnough ? limit[r] - look.waitingMaps[r] - look.runningMaps[r] : ideal[r];
      if (look.size[r] > 0) {
        more = Math.min(more, (room - (long) (look.running + look.asked) * look.size[r]) / look.size[r]);
      }
    }
    return (int) Math.max(more, -look.asked);
  }

  private static long containers(long[] amount, int[] size) {
    long most = 0;
    for (int r = 0; r < 2; r++) {
      most = size[r] > 0 ? Math.max(most, (amount[r] + size[r] - 1) / size[r]) : most;
    }
    return most;
  }
}
