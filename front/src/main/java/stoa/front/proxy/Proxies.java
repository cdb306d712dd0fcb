package stoa.front.proxy;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.ClassFileVersion;
import net.bytebuddy.NamingStrategy;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.dynamic.scaffold.subclass.ConstructorStrategy;
import net.bytebuddy.implementation.FieldAccessor;
import net.bytebuddy.implementation.MethodCall;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import org.jspecify.annotations.Nullable;
import org.objenesis.ObjenesisStd;
import org.objenesis.instantiator.ObjectInstantiator;
import stoa.NotShareable;
import stoa.Ref;
import stoa.front.types.ModuleAccess;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// Creates proxies of shared objects.
///
/// It generates one class for each shared class, in the same package and class loader, and caches
/// it with that class. Thread-safe.
public final class Proxies {
  /*
   * A generated class looks like this, for `long deposit(long)` with index 3:
   *
   *   class Account$StoaProxy extends Account implements ProxyObject {
   *     public Proxied stoa$proxied;
   *     long deposit(long n) { return (Long) stoa$proxied.call(3, new Object[] {n}); }
   *     …
   *   }
   *
   * Checked exceptions pass, as the JVM knows nothing of them. The field is assigned once, right
   * after the instance was made without a constructor; publishing a proxy through a data race could
   * show it unassigned, so that a store fence follows the assignment.
   */
  private static final String FIELD = "stoa$proxied";
  private static final ObjenesisStd OBJENESIS = new ObjenesisStd(false);

  private static final ClassValue<Once> MAKERS =
      new ClassValue<>() {
        @Override
        protected Once computeValue(Class<?> face) {
          return new Once(face);
        }
      };

  /// Generates the class once: threads that ask a [ClassValue] at the same time may each compute
  /// its value, but a class loader accepts one class of a name.
  private static final class Once {
    private final Class<?> face;
    private volatile @Nullable Maker made;

    private Once(Class<?> face) {
      this.face = face;
    }

    Maker maker() {
      Maker known = made;
      return known == null ? make() : known;
    }

    private synchronized Maker make() {
      Maker known = made;
      if (known == null) {
        known = Maker.of(SharedType.of(face));
        made = known;
      }
      return known;
    }
  }

  private Proxies() {}

  /// Returns a new proxy.
  ///
  /// @param ref the reference of its object
  /// @param constructorArguments the arguments of the constructor after the key, for a call that
  ///   creates the object
  /// @param invoker the route of its calls
  /// @throws NotShareable when no subclass of the class can be defined
  public static <T> T create(
      SharedType type, Ref<T> ref, @Nullable Object[] constructorArguments, Invoker invoker) {
    Maker maker = MAKERS.get(type.face()).maker();
    Object proxy =
        maker.make(new Proxied(type, ref, constructorArguments.clone(), invoker, maker.methods));
    @SuppressWarnings("unchecked") // Justification: the maker's class extends the face, which is T
    T typed = (T) proxy;
    return typed;
  }

  /// Returns a proxy of the same object with another route of its calls.
  public static <T> T redirect(T proxy, Invoker invoker) {
    Proxied proxied = of(proxy);
    if (proxied == null) {
      throw new IllegalArgumentException(
          proxy.getClass().getName() + " is no proxy of a shared object; get one from the store");
    }
    @SuppressWarnings("unchecked") // Justification: the proxy is a T, and so is one of its type
    Ref<T> ref = (Ref<T>) proxied.ref();
    return create(proxied.type(), ref, proxied.constructorArguments(), invoker);
  }

  /// Returns the content of a proxy; null when an object is no proxy.
  public static @Nullable Proxied of(@Nullable Object object) {
    return object instanceof ProxyObject proxy ? proxy.stoaProxied() : null;
  }

  /// Returns the generated class of a type.
  ///
  /// @throws NotShareable when no subclass of the class can be defined
  public static Class<?> classOf(SharedType type) {
    return MAKERS.get(type.face()).maker().proxyClass;
  }

  /// Returns the hash of a reference, which is the same in every JVM: that of an enum key's name,
  /// not of its address.
  static int hash(Ref<?> ref) {
    Object key = ref.key();
    int keyHash = key instanceof Enum<?> constant ? constant.name().hashCode() : stableHash(key);
    return 31 * ref.type().hashCode() + keyHash;
  }

  private static int stableHash(Object key) {
    return key instanceof Record
        ? java.util.Arrays.hashCode(stoa.front.types.Keys.encode(key))
        : key.hashCode();
  }

  /// The generated class, with the means to create and fill an instance of it.
  private static final class Maker {
    private final Class<?> proxyClass;
    private final SharedMethod[] methods;
    private final ObjectInstantiator<?> instantiator;
    private final MethodHandle setProxied;

    private Maker(Class<?> proxyClass, SharedMethod[] methods, MethodHandle setProxied) {
      this.proxyClass = proxyClass;
      this.methods = methods;
      this.instantiator = OBJENESIS.getInstantiatorOf(proxyClass);
      this.setProxied = setProxied;
    }

    Object make(Proxied proxied) {
      Object proxy = instantiator.newInstance();
      try {
        setProxied.invokeExact(proxy, proxied);
      } catch (Throwable e) {
        throw new IllegalStateException("setting a field failed", e);
      }
      java.lang.invoke.VarHandle.storeStoreFence();
      return proxy;
    }

    static Maker of(SharedType type) {
      Class<?> face = type.face();
      try {
        var lookup = ModuleAccess.lookup(face);
        Class<?> made =
            define(type)
                .make()
                .load(face.getClassLoader(), ClassLoadingStrategy.UsingLookup.of(lookup))
                .getLoaded();
        Field field = made.getField(FIELD);
        MethodHandle setter =
            lookup
                .unreflectSetter(field)
                .asType(MethodType.methodType(void.class, Object.class, Proxied.class));
        return new Maker(made, type.methods().toArray(SharedMethod[]::new), setter);
      } catch (IllegalAccessException e) {
        throw new NotShareable(
            face.getName() + " cannot be extended from here; " + ModuleAccess.remedy(face), e);
      } catch (NoSuchFieldException | IllegalStateException | LinkageError e) {
        throw new NotShareable(
            "no proxy of " + face.getName() + " can be made: " + e.getMessage(), e);
      }
    }
  }

  private static DynamicType.Builder<?> define(SharedType type) {
    Class<?> face = type.face();
    DynamicType.Builder<?> builder =
        new ByteBuddy(ClassFileVersion.JAVA_V17)
            .with(naming(face))
            .subclass(face, ConstructorStrategy.Default.NO_CONSTRUCTORS)
            .modifiers(Visibility.PUBLIC)
            .implement(ProxyObject.class)
            .defineField(FIELD, Proxied.class, Visibility.PUBLIC)
            .method(named("stoaProxied").and(takesArguments(0)))
            .intercept(FieldAccessor.ofField(FIELD))
            .method(named("hashCode").and(takesArguments(0)))
            .intercept(MethodCall.invoke(method("hash")).onField(FIELD))
            .method(named("equals").and(takesArguments(Object.class)))
            .intercept(
                MethodCall.invoke(method("sameAs", Object.class, Object.class))
                    .onField(FIELD)
                    .withThis()
                    .withArgument(0))
            .method(named("toString").and(takesArguments(0)))
            .intercept(MethodCall.invoke(method("text")).onField(FIELD));
    for (SharedMethod method : type.methods()) {
      Class<?>[] parameters = method.parameterTypes().toArray(Class<?>[]::new);
      builder =
          builder
              .method(named(method.name()).and(takesArguments(parameters)))
              .intercept(
                  MethodCall.invoke(method("call", int.class, Object[].class))
                      .onField(FIELD)
                      .with(method.index())
                      .withArgumentArray()
                      .withAssigner(Assigner.DEFAULT, Assigner.Typing.DYNAMIC));
    }
    return builder;
  }

  private static NamingStrategy naming(Class<?> face) {
    return new NamingStrategy.AbstractBase() {
      @Override
      protected String name(net.bytebuddy.description.type.TypeDescription superClass) {
        return face.getName() + "$StoaProxy";
      }
    };
  }

  private static java.lang.reflect.Method method(String name, Class<?>... parameters) {
    try {
      return Proxied.class.getMethod(name, parameters);
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e);
    }
  }
}
