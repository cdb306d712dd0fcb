package stoa.client;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.front.ClassNames;
import stoa.front.marshal.TypeIds;
import stoa.front.types.SharedType;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Names;
import stoa.wire.proto.NamesAre;
import stoa.wire.proto.Request;
import stoa.wire.proto.TypeNames;

/// The server's dictionary, as far as the client has asked for it. Thread-safe.
final class RemoteNames implements TypeIds {
  private final Asking asking;
  private final ReentrantLock lock = new ReentrantLock();
  private final CopyOnWriteArrayList<String> names = new CopyOnWriteArrayList<>();
  private volatile Map<String, Integer> numbers = Map.of();

  /// Asks the server, and throws its failure.
  interface Asking {
    Answer ask(Outgoing outgoing);
  }

  RemoteNames(Asking asking) {
    this.asking = asking;
  }

  /// Asks for the names after the known ones.
  void refresh() {
    NamesAre said;
    do {
      said = ask(Names.newBuilder().setFrom(names.size()));
      learn(said);
    } while (said.getNamesCount() > 0);
  }

  private NamesAre ask(Names.Builder question) {
    return asking
        .ask(Outgoing.of(Request.newBuilder().setNames(question), Outgoing.Recovery.READ, 64))
        .getNames();
  }

  private void learn(NamesAre said) {
    lock.lock();
    try {
      int at = said.getFrom();
      var byName = new HashMap<>(numbers);
      for (String name : said.getNamesList()) {
        if (at++ != names.size()) continue;
        byName.putIfAbsent(name, names.size());
        names.add(name);
      }
      numbers = byName;
    } finally {
      lock.unlock();
    }
  }

  /// Lets the server register its class of a name.
  ///
  /// @param request states the use of the class
  void announce(TypeNames.Builder request) {
    var _ =
        asking.ask(
            Outgoing.of(Request.newBuilder().setTypeNames(request), Outgoing.Recovery.READ, 256));
    refresh();
  }

  @Override
  public int idOf(String name) {
    Integer known = numbers.get(name);
    if (known != null) return known;
    NamesAre said = ask(Names.newBuilder().addNumber(name).setFrom(names.size()));
    learn(said);
    if (said.getNumbersCount() == 1) return said.getNumbers(0);
    throw new NotShareable(
        "the server does not know \"" + name + "\"; give it the same classes as this program");
  }

  @Override
  public @Nullable String nameOf(int id) {
    if (id < 0) return null;
    if (id >= names.size()) refresh();
    return id < names.size() ? names.get(id) : null;
  }

  @Override
  public List<String> names() {
    refresh();
    return List.copyOf(names);
  }

  @Override
  public boolean assigns() {
    return false;
  }

  @Override
  public boolean isFirstFace(SharedType type) {
    var _ = idOf(ClassNames.CLASS + type.name() + " " + type.face().getName());
    return ClassNames.isFirstFace(type, after(ClassNames.CLASS + type.name() + " "));
  }

  /// Returns the names that begin with a prefix, without the prefix, in the order of their numbers.
  List<String> after(String prefix) {
    return ClassNames.after(prefix, names);
  }
}
