package heddle.bridge;

/** A request that an application has made and that the process outside may not know of yet. */
interface Asking {
  Ask ask();

  String queue();

  Size size();

  /** How many containers are still waited for; 0: it is served, taken back, or its application is gone. */
  int containers();
}
