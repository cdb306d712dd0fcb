package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.NotShareable;
import stoa.Ref;
import stoa.front.marshal.Reference;
import stoa.front.marshal.References;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.spi.Collections;
import stoa.spi.Facade;

/// Turns proxies into references and back while values are marshalled. Thread-safe.
public final class SharedReferences implements References {
  private final SharedStoa stoa;
  private final Service.Vocabulary vocabulary;

  /// @param vocabulary the vocabulary of the marshaller that uses this
  public SharedReferences(SharedStoa stoa, Service.Vocabulary vocabulary) {
    this.stoa = stoa;
    this.vocabulary = vocabulary;
  }

  @Override
  public @Nullable Reference referenceOf(Object object) {
    if (object instanceof Blob blob) {
      SharedBlob own = stoa.own(blob);
      vocabulary.mentionBlob();
      return new Reference(own.ref(), own.generation());
    }
    Proxied proxied = Proxies.of(object);
    if (proxied != null) return referenceOf(proxied);
    MethodRun running = MethodRun.current();
    return running == null ? null : running.referenceOf(object);
  }

  private Reference referenceOf(Proxied proxied) {
    if (proxied.invoker() instanceof LiveRoute route) {
      SharedCall live = route.live();
      if (live.stoa() != stoa) {
        throw new NotShareable(
            proxied.ref() + " is an object of another store, and cannot be passed to this one");
      }
      vocabulary.mention(live);
      return new Reference(proxied.ref(), live.generation());
    }
    throw new NotShareable(
        "a view of the past of " + proxied.ref() + " cannot be passed on; pass a live proxy");
  }

  @Override
  public @Nullable Class<?> classOf(String name) {
    return vocabulary.classOf(name);
  }

  @Override
  public boolean learn() {
    return vocabulary.learn();
  }

  @Override
  public Object resolve(Reference reference) {
    Ref<?> ref = reference.ref();
    if (ref.type().equals(SharedStoa.BLOBS)) {
      return new SharedBlob(stoa, vocabulary.blob(ref.key(), reference.generation()));
    }
    return resolve(reference, vocabulary.named(ref.type(), ref.key()), SharedCall.NOTHING);
  }

  @Override
  public Object resolve(Reference reference, Class<?> face) {
    return resolve(reference, vocabulary.target(face, reference.ref().key()), SharedCall.NOTHING);
  }

  private Object resolve(
      Reference reference, Service.Target target, @Nullable Object[] constructorArguments) {
    Place place = Place.current(stoa);
    var live =
        new SharedCall(
            stoa,
            target,
            constructorArguments,
            SharedCall.Source.REFERENCE,
            reference.generation());
    return place == null ? SharedStoa.proxy(live) : SharedStoa.past(live, place);
  }

  @Override
  public Object facade(Reference reference, String form) {
    ClassLoader elements = vocabulary.elements();
    return elements == null
        ? made(reference, form)
        : ScopedValue.where(SharedStoa.ELEMENTS, elements).call(() -> made(reference, form));
  }

  private Object made(Reference reference, String form) {
    @Nullable Object[] opening = Collections.installed().opening(stoa, form);
    Ref<?> ref = reference.ref();
    Object proxy = resolve(reference, vocabulary.named(ref.type(), ref.key()), opening);
    Place place = Place.current(stoa);
    if (place == null) return Collections.installed().reopen(stoa, proxy, form);
    // A view at the place of a live proxy and of all its parts.
    Object live =
        Sharing.proxied(proxy).invoker() instanceof PastCall past
            ? Proxies.redirect(proxy, past.live())
            : proxy;
    Facade facade = Collections.installed().reopen(stoa, live, form);
    return facade.through(shared -> stoa.seen(shared, place));
  }
}
