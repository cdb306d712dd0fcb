package stoa.client;

import java.util.function.Supplier;
import stoa.LimitExceeded;
import stoa.Ref;
import stoa.base.Key;
import stoa.front.ObjectAnswer;
import stoa.front.types.Keys;
import stoa.wire.proto.Answered;
import stoa.wire.proto.Call;
import stoa.wire.proto.Errand;
import stoa.wire.proto.ErrandAnswer;
import stoa.wire.proto.ObjectName;

/// The calls of a transaction, with the calls that their methods make on objects of other groups:
/// the client makes these at the groups of their objects. One thread at a time uses it.
final class Errands {
  /*
   * The server of a group stops the run of a method that calls an object elsewhere, and returns
   * that call as an errand. The client makes it at the object's group, in the same transaction and
   * as of the same moment; it may have errands of its own. Then the client repeats the first call,
   * which continues with the answer. Methods are deterministic, so that each run makes the same
   * calls.
   */

  // The most bytes of answers in one call: a frame has 8 MiB.
  private static final int ANSWERS_BYTES_MAX = 4 << 20;

  /// The branches of a transaction in the groups.
  interface Branches {
    /// Returns the transaction's branch in a group, and begins it if necessary.
    Branch of(int group);

    /// Begins a nested transaction in all groups.
    void enter();

    /// Ends the innermost nested transaction.
    void leave(boolean keep);
  }

  private final Branches branches;
  private boolean begun;

  Errands(Branches branches) {
    this.branches = branches;
  }

  /// Waits for the answer of a call.
  ///
  /// @param containers returns the container of the object, in use
  /// @param begun the call, which the branch has begun
  Answered answered(
      Branch branch,
      Supplier<Container> containers,
      Call.Builder call,
      boolean changing,
      Outgoing begun) {
    Outgoing asked = begun;
    int bytes = 0;
    while (true) {
      Answered answered = branch.answered(asked);
      if (!answered.hasErrand()) return answered;
      ErrandAnswer said = errand(answered.getErrand());
      bytes += said.getSerializedSize();
      if (bytes > ANSWERS_BYTES_MAX) {
        throw new LimitExceeded(
            "one call of a transaction was answered "
                + bytes
                + " bytes by objects of other groups; "
                + ANSWERS_BYTES_MAX
                + " is the most: have the method ask for less");
      }
      call.addErrands(said);
      asked = branch.call(containers.get(), call, changing);
    }
  }

  /// Returns whether errands have begun since the last call of this method.
  boolean haveBegun() {
    boolean were = begun;
    begun = false;
    return were;
  }

  private ErrandAnswer errand(Errand errand) {
    begun = true;
    if (!errand.getNested()) return answer(errand);
    branches.enter();
    boolean kept = false;
    try {
      ErrandAnswer said = answer(errand);
      kept = said.getAnswer().byteAt(0) == ObjectAnswer.RETURNED;
      return said;
    } finally {
      branches.leave(kept);
    }
  }

  private ErrandAnswer answer(Errand errand) {
    Branch branch = branches.of(errand.getGroup());
    RemotePart stoa = branch.stoa();
    stoa.types().use(errand.getClassName());
    Key key = key(errand.getObject(), stoa.loader());
    var call =
        Call.newBuilder()
            .setExistence(errand.getExistence())
            .setCall(errand.getCall())
            .addAllCallers(errand.getCallersList());
    Supplier<Container> containers = () -> stoa.conversation().containers().use(key, null);
    Answered answered =
        answered(branch, containers, call, true, branch.call(containers.get(), call, true));
    return ErrandAnswer.newBuilder()
        .setGroup(errand.getGroup())
        .setAnswer(answered.getAnswer())
        .build();
  }

  private static Key key(ObjectName object, ClassLoader loader) {
    byte[] name = object.getKey().toByteArray();
    return new Key(object.getType(), name, new Ref<>(object.getType(), Keys.decode(name, loader)));
  }
}
