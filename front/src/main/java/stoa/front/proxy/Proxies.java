package stoa.front.proxy;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
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
  private static final ClassDesc PROXIED = describe(Proxied.class);
  private static final MethodTypeDesc CALL =
      MethodTypeDesc.of(
          ConstantDescs.CD_Object, ConstantDescs.CD_int, ConstantDescs.CD_Object.arrayType());

  // The methods of `Object` that a proxy answers by itself, and those of [Proxied] behind them.
  private static final Map<String, String> OF_OBJECT =
      Map.of("hashCode", "hash", "equals", "sameAs", "toString", "text");

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
            lookup.defineClass(define(type, ClassDesc.of(face.getName() + "$StoaProxy")));
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

  /// The bytes of the generated class.
  private static byte[] define(SharedType type, ClassDesc self) {
    Class<?> face = type.face();
    ClassDesc above = face.isInterface() ? ConstantDescs.CD_Object : describe(face);
    var interfaces = new ArrayList<>(List.of(describe(ProxyObject.class)));
    if (face.isInterface()) interfaces.add(describe(face));
    var own = new LinkedHashMap<String, Consumer<ClassBuilder>>();
    for (Method declared : Object.class.getMethods()) {
      String answer = OF_OBJECT.get(declared.getName());
      if (answer != null && !isFinal(face, declared)) {
        own.put(signature(declared), made -> withAnswer(made, self, declared, answer));
      }
    }
    for (SharedMethod method : type.methods()) {
      own.put(signature(method.method()), made -> withCall(made, self, method));
    }
    return ClassFile.of()
        .build(
            self,
            made -> {
              made.withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_SUPER)
                  .withSuperclass(above)
                  .withInterfaceSymbols(interfaces)
                  .withField(FIELD, PROXIED, ClassFile.ACC_PUBLIC)
                  .withMethodBody(
                      "stoaProxied",
                      MethodTypeDesc.of(PROXIED),
                      ClassFile.ACC_PUBLIC,
                      code -> code.aload(0).getfield(self, FIELD, PROXIED).areturn());
              own.values().forEach(method -> method.accept(made));
            });
  }

  private static boolean isFinal(Class<?> face, Method declared) {
    try {
      Method actual = face.getMethod(declared.getName(), declared.getParameterTypes());
      return Modifier.isFinal(actual.getModifiers());
    } catch (NoSuchMethodException ofAnInterface) {
      return false;
    }
  }

  private static String signature(Method method) {
    return method.getName() + Arrays.toString(method.getParameterTypes());
  }

  /// A method of `Object`, which asks [Proxied].
  private static void withAnswer(ClassBuilder made, ClassDesc self, Method method, String answer) {
    ClassDesc result = describe(method.getReturnType());
    made.withMethodBody(
        method.getName(),
        typeOf(method),
        ClassFile.ACC_PUBLIC,
        code -> {
          code.aload(0).getfield(self, FIELD, PROXIED);
          if (method.getParameterCount() == 0) {
            code.invokevirtual(PROXIED, answer, MethodTypeDesc.of(result));
          } else {
            ClassDesc object = ConstantDescs.CD_Object;
            code.aload(0).aload(1);
            code.invokevirtual(PROXIED, answer, MethodTypeDesc.of(result, object, object));
          }
          code.return_(TypeKind.from(result));
        });
  }

  /// A method of the type, which is a call.
  private static void withCall(ClassBuilder made, ClassDesc self, SharedMethod method) {
    MethodTypeDesc type = typeOf(method.method());
    int visible = ClassFile.ACC_PUBLIC | ClassFile.ACC_PROTECTED;
    made.withMethodBody(
        method.name(),
        type,
        method.method().getModifiers() & visible,
        code -> {
          code.aload(0).getfield(self, FIELD, PROXIED).loadConstant(method.index());
          code.loadConstant(type.parameterCount()).anewarray(ConstantDescs.CD_Object);
          for (int i = 0; i < type.parameterCount(); i++) {
            TypeKind kind = TypeKind.from(type.parameterType(i));
            code.dup().loadConstant(i).loadLocal(kind, code.parameterSlot(i));
            box(code, type.parameterType(i));
            code.aastore();
          }
          code.invokevirtual(PROXIED, "call", CALL);
          unbox(code, type.returnType());
          code.return_(TypeKind.from(type.returnType()));
        });
  }

  private static void box(CodeBuilder code, ClassDesc type) {
    if (!type.isPrimitive()) return;
    ClassDesc boxed = boxed(type);
    code.invokestatic(boxed, "valueOf", MethodTypeDesc.of(boxed, type));
  }

  private static void unbox(CodeBuilder code, ClassDesc type) {
    if (type.equals(ConstantDescs.CD_void)) {
      code.pop();
    } else if (type.isPrimitive()) {
      String value = type.displayName() + "Value";
      code.checkcast(boxed(type)).invokevirtual(boxed(type), value, MethodTypeDesc.of(type));
    } else {
      code.checkcast(type);
    }
  }

  private static ClassDesc boxed(ClassDesc primitive) {
    return switch (TypeKind.from(primitive)) {
      case BOOLEAN -> ConstantDescs.CD_Boolean;
      case BYTE -> ConstantDescs.CD_Byte;
      case SHORT -> ConstantDescs.CD_Short;
      case CHAR -> ConstantDescs.CD_Character;
      case INT -> ConstantDescs.CD_Integer;
      case LONG -> ConstantDescs.CD_Long;
      case FLOAT -> ConstantDescs.CD_Float;
      case DOUBLE -> ConstantDescs.CD_Double;
      case REFERENCE, VOID -> throw new IllegalArgumentException(primitive + " has no box");
    };
  }

  private static MethodTypeDesc typeOf(Method method) {
    return MethodTypeDesc.of(
        describe(method.getReturnType()),
        Arrays.stream(method.getParameterTypes()).map(Proxies::describe).toList());
  }

  private static ClassDesc describe(Class<?> type) {
    return type.describeConstable()
        .orElseThrow(() -> new IllegalStateException(type + " is a hidden class"));
  }
}
