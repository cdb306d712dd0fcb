package stoa.front.proxy;

import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// What a proxy stands for: the reference, the type, the arguments that would create the object,
/// and where calls go.
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

  /// The type of the object.
  public SharedType type() {
    return type;
  }

  /// The reference of the object.
  public Ref<?> ref() {
    return ref;
  }

  /// What the constructor is given after the key when a call creates the object.
  public @Nullable Object[] constructorArguments() {
    return constructorArguments.clone();
  }

  /// Where the calls go.
  public Invoker invoker() {
    return invoker;
  }

  /// Called by generated code: one call of the method at `index` in the type's list.
  public @Nullable Object call(int index, @Nullable Object[] arguments) throws Throwable {
    return invoker.invoke(this, methods[index], arguments);
  }

  /// Called by generated code: `equals` of the proxy. Two proxies are equal when their references
  /// are; of anything else, the other operand is asked (CRESON, section III-E).
  public boolean sameAs(Object proxy, @Nullable Object other) {
    if (other == null) return false;
    if (other instanceof ProxyObject o) return ref.equals(o.stoaProxied().ref);
    return other.equals(proxy);
  }

  /// Called by generated code: `hashCode` of the proxy, which is that of its reference.
  public int hash() {
    return Proxies.hash(ref);
  }

  /// Called by generated code: `toString` of a proxy whose class declares none, as in
  /// `Account[alice]`.
  public String text() {
    return type.face().getSimpleName() + "[" + ref.key() + "]";
  }

  @Override
  public String toString() {
    return "proxy of " + ref;
  }
}
