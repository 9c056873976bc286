package heddle.bridge;

/** What a decision must know of the leaf that is walked: YARN's own, or a test's. */
interface Host {
  /** Whether a container of this size, for this request, is still waited for in this leaf. */
  boolean waits(Request request, Size size);

  /** For how long the request has waited without being given anything, in ms. */
  long unservedMs(Request request);

  /** Another number whenever a request may have begun to wait. */
  int asked();
}
