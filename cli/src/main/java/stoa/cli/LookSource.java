package stoa.cli;

import java.util.ArrayList;
import java.util.List;
import stoa.base.Key;
import stoa.node.Looking;
import stoa.objects.LookService;
import stoa.wire.SlotMap;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.WhereRequest;

/// The source of a look: a store that servers have open, or the files of one that no process has
/// open. One owner uses it, and closes it.
interface LookSource extends AutoCloseable {
  /// Returns how many groups keep the store.
  int groups();

  /// Asks one group, whose number is set.
  ///
  /// @throws IllegalArgumentException with the reason when it refuses to tell
  LookReply ask(LookRequest asked);

  /// Asks the group of an object.
  ///
  /// @param key its encoded key
  default LookReply ask(String type, byte[] key, LookRequest.Builder asked) {
    int groups = groups();
    int group = groups == 1 ? 0 : SlotMap.of(groups).group(new Key(type, key, type).stream());
    return ask(asked.setGroup(group).build());
  }

  /// Asks all groups, one after the other.
  default List<LookReply> askAll(LookRequest.Builder asked) {
    var replies = new ArrayList<LookReply>();
    for (int group = 0; group < groups(); group++) {
      replies.add(ask(asked.setGroup(group).build()));
    }
    return replies;
  }

  @Override
  void close();

  /// Returns a reply that tells.
  ///
  /// @throws IllegalArgumentException with the reason when it refuses to tell
  static LookReply told(LookReply reply) {
    if (reply.getRefusal().isEmpty()) return reply;
    throw new IllegalArgumentException(reply.getRefusal());
  }

  /// A store that servers have open.
  ///
  /// @param groups how many groups keep it
  record Served(Operator operator, int groups) implements LookSource {
    static Served of(Operator operator) {
      var asked = WhereRequest.getDefaultInstance();
      int groups = operator.ask(server -> server.where(asked)).getGroups();
      if (groups > 0) return new Served(operator, groups);
      throw new IllegalArgumentException(
          "the server does not know yet how many groups keep the store; try again");
    }

    @Override
    public LookReply ask(LookRequest asked) {
      return told(operator.ask(asked.getGroup(), server -> server.look(asked)));
    }

    @Override
    public void close() {}
  }

  /// The files of a store that no process has open.
  record Stored(ScratchStore store, LookService look) implements LookSource {
    static Stored of(ScratchStore store) {
      return new Stored(store, store.service().look());
    }

    @Override
    public int groups() {
      return 1;
    }

    @Override
    public LookReply ask(LookRequest asked) {
      return told(Looking.answer(look, asked));
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
