import java.util.Scanner;

/** Answers each look that it reads: 1 or 0 for giving way, how many containers end then, how many are asked for. */
public final class RuleDriver {
  public static void main(String[] arguments) {
    Scanner in = new Scanner(System.in);
    while (in.hasNextInt()) {
      EarlyRule.Look look = new EarlyRule.Look(
          new int[] {in.nextInt(), in.nextInt()}, new long[] {in.nextInt(), in.nextInt()});
      look.slowStartPermille = in.nextInt();
      look.maps = in.nextInt();
      look.mapsDone = in.nextInt();
      look.running = in.nextInt();
      look.asked = in.nextInt();
      look.pending = in.nextInt();
      int[] one = {in.nextInt(), in.nextInt()};
      int waiting = in.nextInt();
      int running = in.nextInt();
      for (int r = 0; r < 2; r++) {
        look.waitingMaps[r] = (long) waiting * one[r];
        look.askedMaps[r] = look.waitingMaps[r];
        look.runningMaps[r] = (long) running * one[r];
      }
      look.oneAskedMap = waiting > 0 ? one : null;
      boolean givesWay = EarlyRule.givesWay(look);
      System.out.println((givesWay ? 1 : 0) + " " + (givesWay ? EarlyRule.toEnd(look) : 0) + " " + EarlyRule.toAsk(look));
    }
  }
}
