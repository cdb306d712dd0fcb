package stoa.objects;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.front.PlacedState;
import stoa.front.code.CodeVersion;
import stoa.store.past.Shipment;
import stoa.store.records.Records;

/// The calls on an object that a client can execute: those of the version of the code that the
/// client has. One thread uses it.
final class ClientCode implements Shipment.Replays {
  private final Catalog catalog;
  private final ObjectType type;
  private final @Nullable StreamId version;
  private final Predicate<String> sees;
  private final Map<Integer, Boolean> known = new HashMap<>();

  /// @param type the object's type, in any code
  /// @param version the version of the client; null for classes of Stoa
  /// @param sees whether the client may see answers of objects of a type, by its stored name
  ClientCode(Catalog catalog, ObjectType type, @Nullable StreamId version, Predicate<String> sees) {
    this.catalog = catalog;
    this.type = type;
    this.version = version;
    this.sees = sees;
  }

  @Override
  public boolean begins(byte[] checkpoint) {
    return ObjectHandler.plain(checkpoint) != null && has(ObjectHandler.code(checkpoint));
  }

  @Override
  public boolean executes(Records.Put put) {
    byte[] value = put.value();
    boolean isCall =
        !PlacedState.isIn(value)
            && !PlacedState.isSide(value, true)
            && !PlacedState.isSide(value, false);
    return isCall && has(put.code()) && !(put.begins() && expires(put.code()));
  }

  @Override
  public boolean sees(String space) {
    return space.equals(type.shared().name()) || sees.test(space);
  }

  private boolean has(int code) {
    return known.computeIfAbsent(code, this::isVersion);
  }

  /// Returns whether objects of the code end by themselves. A put that creates one then calls the
  /// keeper of timers, which a client does not do again.
  private boolean expires(int code) {
    return catalog.typeAt(type.shared().name(), code).shared().lifetime() != null;
  }

  private boolean isVersion(int code) {
    if (code == 0) {
      // Of Stoa; or logged before the store kept versions, of which the client cannot know.
      return version == null && CodeVersion.of(type.shared().implementation()).name() == null;
    }
    Codes.Activation activation = catalog.codes().find(code);
    return activation != null && activation.version().equals(version);
  }
}
