package stoa.client;

import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Ref;
import stoa.base.Key;
import stoa.front.Place;
import stoa.front.marshal.Reference;
import stoa.front.marshal.References;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.spi.CallContext;
import stoa.spi.Collections;
import stoa.spi.Facade;

/// Turns proxies into references and back while values are marshalled. Thread-safe.
final class RemoteReferences implements References {
  private static final Object[] NOTHING = {};

  private final RemoteStoa stoa;

  RemoteReferences(RemoteStoa stoa) {
    this.stoa = stoa;
  }

  @Override
  public @Nullable Reference referenceOf(Object object) {
    if (object instanceof RemoteBlob blob) {
      RemoteBlob own = stoa.parts().first().blobs().own(blob);
      stoa.types().blobs();
      return new Reference(own.ref(), blob.generation());
    }
    Proxied proxied = Proxies.of(object);
    if (proxied == null) {
      return CallContext.CURRENT.isBound()
              && CallContext.CURRENT.get() instanceof Replica.Reading reading
          ? reading.referenceOf(object)
          : null;
    }
    if (proxied.invoker() instanceof RemoteRoute route) {
      RemoteInvoker live = route.live();
      if (live.parts() != stoa.parts()) throw another(proxied);
      if (live.group() != stoa.group()) {
        stoa.types().visit(live.shared(), stoa.parts().first().types());
      }
      return new Reference(proxied.ref(), live.generation());
    }
    if (proxied.invoker() instanceof RemotePast) {
      throw new NotShareable(
          "a view of the past of " + proxied.ref() + " cannot be passed on; pass a live proxy");
    }
    throw another(proxied);
  }

  @Override
  public boolean learn() {
    return stoa.parts().teach(stoa.types());
  }

  private static NotShareable another(Proxied proxied) {
    return new NotShareable(
        proxied.ref() + " is an object of another store, and cannot be passed to this one");
  }

  @Override
  public Object resolve(Reference reference) {
    Ref<?> ref = reference.ref();
    if (ref.type().equals(RemoteTypes.BLOBS)) {
      return stoa.parts().first().blobs().reference(ref.key(), reference.generation());
    }
    return resolve(reference, stoa.types().named(ref.type()));
  }

  @Override
  public Object resolve(Reference reference, Class<?> face) {
    return resolve(reference, stoa.types().of(face));
  }

  private Object resolve(Reference reference, RemoteType type) {
    return resolve(reference, type, NOTHING);
  }

  private Object resolve(
      Reference reference, RemoteType type, @Nullable Object[] constructorArguments) {
    var source = RemoteInvoker.Source.REFERENCE;
    Object key = reference.ref().key();
    Place place = Place.current(stoa.parts().whole());
    Key target = type.key(key);
    int group = stoa.parts().group(type.shared(), target);
    if (group != stoa.group()) {
      var live =
          new RemoteInvoker(
              stoa.parts(),
              group,
              type.shared(),
              target,
              constructorArguments,
              reference.generation());
      return Proxies.create(
          type.shared(),
          reference.ref(),
          constructorArguments,
          place == null ? live : new RemotePast(live, 0, place));
    }
    return place == null
        ? stoa.proxy(type, key, constructorArguments, source, reference.generation())
        : stoa.past(type, key, constructorArguments, source, reference.generation(), place);
  }

  @Override
  public Object facade(Reference reference, String form) {
    @Nullable Object[] opening = Collections.installed().opening(stoa.parts().whole(), form);
    Object proxy = resolve(reference, stoa.types().named(reference.ref().type()), opening);
    Place place = Place.current(stoa.parts().whole());
    if (place == null) return Collections.installed().reopen(stoa.parts().whole(), proxy, form);
    // Made of the live object, and seen at the place, with all that it is composed of.
    Proxied proxied = Proxies.of(proxy);
    Object live =
        proxied != null && proxied.invoker() instanceof RemotePast past
            ? Proxies.redirect(proxy, past.live())
            : proxy;
    Facade facade = Collections.installed().reopen(stoa.parts().whole(), live, form);
    return facade.through(shared -> stoa.seen(shared, place));
  }
}
