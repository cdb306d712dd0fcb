package stoa.client;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.CallNumbers;
import stoa.front.ClassNames;
import stoa.front.Refusals;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// A shared class as the server knows it: the numbers of its methods. Thread-safe.
final class RemoteType {
  private final RemotePart part;
  private final SharedType shared;
  private final RemoteNames names;
  private final Marshaller marshaller;
  private final int callBytesMax;
  private final AtomicReferenceArray<@Nullable Integer> numbers;

  /// @param part the part of the store with these numbers
  RemoteType(
      RemotePart part,
      SharedType shared,
      RemoteNames names,
      Marshaller marshaller,
      int callBytesMax) {
    this.part = part;
    this.shared = shared;
    this.names = names;
    this.marshaller = marshaller;
    this.callBytesMax = callBytesMax;
    numbers = new AtomicReferenceArray<>(shared.methods().size());
  }

  RemotePart part() {
    return part;
  }

  SharedType shared() {
    return shared;
  }

  Key key(Object key) {
    return key(shared, key);
  }

  /// Returns the key of an object.
  static Key key(SharedType shared, Object key) {
    return new Key(shared.name(), Keys.encode(key), new Ref<>(shared.name(), key));
  }

  /// Returns an encoded call: the method's number and the arguments.
  ///
  /// @throws LimitExceeded when the arguments are too large
  byte[] call(SharedMethod method, @Nullable Object[] arguments) {
    byte[] encoded = marshaller.arguments(method, arguments);
    byte[] call = new Encoder(10).varint(number(method)).followedBy(encoded);
    if (call.length > callBytesMax) throw Refusals.call(method, call.length, callBytesMax);
    return call;
  }

  private int number(SharedMethod method) {
    Integer number = numbers.get(method.index());
    if (number == null) {
      number = names.idOf(ClassNames.method(shared, method)) + 1;
      numbers.set(method.index(), number);
    }
    return number;
  }

  /// Returns the identity of the called method, or null when the call has none.
  @Nullable String called(Decoder call) {
    int number = (int) call.varint();
    if (!CallNumbers.isMethod(number)) return null;
    String prefix = ClassNames.methods(shared.name());
    String name = names.nameOf(number - 1);
    if (name == null || !name.startsWith(prefix)) {
      throw new stoa.Corrupt("a call of method " + number + " on " + shared.name());
    }
    return name.substring(prefix.length());
  }
}
