package stoa.front.proxy;

import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// The content of a proxy: the reference, the type, the arguments that would create the object, and
/// the route of calls.
///
/// Generated classes call [#call], [#sameAs], [#hash] and [#text]. Immutable and thread-safe.
public final class Proxied {
  private final SharedType type;
  private final Ref<?> ref;
  private final @Nullable Object[] constructorArguments;
  private final Invoker invoker;
  private final SharedMethod[] methods;

  Proxied(
      SharedType type,
      Ref<?> ref,
      @Nullable Object[] constructorArguments,
      Invoker invoker,
      SharedMethod[] methods) {
    this.type = type;
    this.ref = ref;
    this.constructorArguments = constructorArguments;
    this.invoker = invoker;
    this.methods = methods;
  }

  /// Returns the type of the object.
  public SharedType type() {
    return type;
  }

  /// Returns the reference of the object.
  public Ref<?> ref() {
    return ref;
  }

  /// Returns the arguments of the constructor after the key, for a call that creates the object.
  public @Nullable Object[] constructorArguments() {
    return constructorArguments.clone();
  }

  /// Returns the route of calls.
  public Invoker invoker() {
    return invoker;
  }

  /// Makes one call of the method at `index` in the type's list. Generated code calls this.
  public @Nullable Object call(int index, @Nullable Object[] arguments) throws Throwable {
    return invoker.invoke(this, methods[index], arguments);
  }

  /// Compares for `equals` of the proxy. Two proxies are equal when their references are; for any
  /// other operand, the operand's `equals` decides (CRESON, section III-E). Generated code calls
  /// this.
  public boolean sameAs(Object proxy, @Nullable Object other) {
    if (other == null) return false;
    if (other instanceof ProxyObject o) return ref.equals(o.stoaProxied().ref);
    return other.equals(proxy);
  }

  /// Returns the `hashCode` of the proxy, which is that of its reference. Generated code calls
  /// this.
  public int hash() {
    return Proxies.hash(ref);
  }

  /// Returns the `toString` of a proxy whose class declares none, as in `Account[alice]`. Generated
  /// code calls this.
  public String text() {
    return type.face().getSimpleName() + "[" + ref.key() + "]";
  }

  @Override
  public String toString() {
    return "proxy of " + ref;
  }
}
