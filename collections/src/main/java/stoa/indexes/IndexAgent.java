package stoa.indexes;

import java.util.List;
import java.util.Objects;
import java.util.function.ToIntFunction;
import stoa.Accessor;
import stoa.Shared;
import stoa.Transactional;
import stoa.base.Key;
import stoa.front.MethodRun;
import stoa.front.types.Keys;
import stoa.spi.Forkable;

/// The part of queries and deletions that runs where the objects are: an object without state, of
/// which each group has one.
@Shared(name = IndexAgent.NAME)
class IndexAgent implements Forkable<IndexAgent> {
  /// The stored name of the class.
  static final String NAME = "stoa.IndexAgent";

  /// For the store.
  protected IndexAgent() {}

  /// Returns the key of the agent of a group.
  ///
  /// @param type the stored name of the agents
  /// @param groups returns the group of a key
  static String nameIn(String type, int group, ToIntFunction<Key> groups) {
    for (int number = 0; ; number++) {
      String name = Integer.toString(number);
      if (groups.applyAsInt(new Key(type, Keys.encode(name), name)) == group) {
        return name;
      }
    }
  }

  private static MethodRun run() {
    return Objects.requireNonNull(MethodRun.current(), "an agent runs in a store");
  }

  /// Removes an object of the agent's group from its indexes, in the transaction that deletes it.
  @Transactional
  public void leave(String type, String object) {
    run().index(type, InstalledIndexes.key(object), MethodRun.Indexed.LEFT);
  }

  /// Enters objects of the agent's group in the indexes of their class.
  @Transactional
  public void enter(String type, List<String> objects) {
    for (String object : objects) {
      run().index(type, InstalledIndexes.key(object), MethodRun.Indexed.ENTERED);
    }
  }

  /// Returns the ids of the indexes of a class in the code that executes its calls in the agent's
  /// group.
  @Accessor
  public List<String> indexes(String type) {
    return List.copyOf(run().indexes(type));
  }

  /// Checks that the code that executes the calls of a class in the agent's group has some indexes.
  ///
  /// @throws IllegalStateException when it lacks one
  @Accessor
  public boolean check(String type, List<String> ids) {
    List<String> known = run().indexes(type);
    for (String id : ids) {
      if (known.contains(id)) continue;
      throw new IllegalStateException(
          "the active code of "
              + type
              + " does not have the "
              + id
              + "; deploy this version of the class, and ask again");
    }
    return true;
  }

  /// Answers a plan.
  ///
  /// @param plan as [Plan] writes it
  /// @return the rows: what orders each of them, then its object
  @Accessor
  public List<String> ask(List<String> plan) {
    return Plan.read(plan).answer(run());
  }

  /// Returns those of some objects of the agent's group that meet the conditions of a plan.
  ///
  /// @param objects the rows: what orders each of them, then its object
  @Accessor
  public List<String> judge(List<String> plan, List<String> objects) {
    return Plan.read(plan).judged(run(), objects);
  }

  @Override
  public IndexAgent fork() {
    return new IndexAgent();
  }
}
