package stoa.sim;

import stoa.log.core.Layout.Copies;

/// Clients append to streams of several shards, alone and in transactions, read and trim them, and
/// follow the log, while messages are lost and repeated and every part crashes; then everything
/// must have happened once, in one order.
final class StreamScenario implements Scenario {
  private final String name;
  private final Copies copies;
  private final StreamWorld.Trouble trouble;
  private final StreamRules rules;

  StreamScenario(String name, Copies copies, StreamWorld.Trouble trouble, StreamRules rules) {
    this.name = name;
    this.copies = copies;
    this.trouble = trouble;
    this.rules = rules;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    int shards = copies == Copies.FULL ? chance.between(2, 4) : chance.between(1, 4);
    var size =
        new StreamWorld.Size(
            shards, copies, chance.between(2, 10), chance.between(2, 5), chance.between(4, 12));
    new StreamWorld(chance.of("world"), trace, size, trouble, rules).run();
  }
}
