package stoa.front.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.MethodId;
import stoa.Mutator;
import stoa.NotShareable;
import stoa.Shared;

class SharedTypeTest {
  static class Overdrawn extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  abstract static class Base<T> {
    protected final List<T> items = new ArrayList<>();

    abstract boolean add(T item);

    @Accessor
    protected int size() {
      return items.size();
    }

    public Object covariant() {
      return "base";
    }
  }

  interface Described {
    @Accessor
    default String describe() {
      return "described";
    }
  }

  @Shared(name = "test.Account", key = "id")
  static class Account extends Base<String> implements Described {
    private final String id;
    private long balance;

    @SuppressWarnings("UnusedMethod") // Justification: chosen by its parameters
    private Account(String id) {
      this(id, 0L);
    }

    protected Account(String id, long balance) {
      this.id = id;
      this.balance = balance;
    }

    Account(String id, Object... rest) {
      this.id = id;
      this.balance = -rest.length;
    }

    Account(String id, String failing) {
      throw new UncheckedIOException(new IOException(failing));
    }

    @Override
    boolean add(String item) {
      return items.add(item);
    }

    long deposit(long n) throws IOException {
      if (n < 0) throw new Overdrawn();
      return balance += n;
    }

    @Override
    public String covariant() {
      return "account";
    }

    @Mutator
    @MethodId("reset")
    void clear() {
      balance = 0;
    }

    @Override
    public String toString() {
      return id + ":" + balance;
    }

    @Override
    public int hashCode() {
      return id.hashCode();
    }

    @Override
    public boolean equals(@Nullable Object o) {
      return this == o;
    }

    static long helper() {
      return 1;
    }

    private void hidden() {
      balance = helper();
    }

    void callsHidden() {
      hidden();
    }
  }

  private final SharedType type = SharedType.of(Account.class);

  @Test
  void methodsAreAllThatACallerCouldReach() {
    Map<String, SharedMethod.Kind> kinds =
        type.methods().stream().collect(Collectors.toMap(SharedMethod::id, SharedMethod::kind));
    assertEquals(
        Map.of(
            "add(java.lang.String)", SharedMethod.Kind.UPDATE,
            "callsHidden()", SharedMethod.Kind.UPDATE,
            "covariant()", SharedMethod.Kind.UPDATE,
            "deposit(long)", SharedMethod.Kind.UPDATE,
            "describe()", SharedMethod.Kind.ACCESSOR,
            "reset", SharedMethod.Kind.MUTATOR,
            "size()", SharedMethod.Kind.ACCESSOR,
            "toString()", SharedMethod.Kind.ACCESSOR),
        kinds);
    for (int i = 0; i < type.methods().size(); i++) {
      assertEquals(i, type.methods().get(i).index());
      assertSame(type.methods().get(i), type.method(type.methods().get(i).id()));
    }
    assertSame(type, SharedType.of(Account.class));
  }

  @Test
  void methodsAreCalledWithoutReflectionAndThrowWhatTheyThrow() throws Throwable {
    Object account = type.instantiate("alice", new Object[] {5L});
    assertEquals(8L, type.method("deposit(long)").invoke(account, new Object[] {3L}));
    assertNull(type.method("reset").invoke(account, new Object[0]));
    assertEquals("alice:0", type.method("toString()").invoke(account, new Object[0]));
    assertEquals(true, type.method("add(java.lang.String)").invoke(account, new Object[] {"x"}));
    assertEquals(1, type.method("size()").invoke(account, new Object[0]));
    assertEquals("described", type.method("describe()").invoke(account, new Object[0]));
    assertThrows(
        Overdrawn.class, () -> type.method("deposit(long)").invoke(account, new Object[] {-1L}));
  }

  @Test
  void methodsAreFoundByTheirDeclaration() throws NoSuchMethodException {
    var declared = Account.class.getDeclaredMethod("deposit", long.class);
    assertEquals("deposit(long)", assertNotNullMethod(type.method(declared)).id());
    assertNull(type.method(Account.class.getDeclaredMethod("helper")));
    var e = assertThrows(NotShareable.class, () -> type.method("gone()"));
    assertSays(e, "@MethodId(\"gone()\")");
  }

  private static SharedMethod assertNotNullMethod(@Nullable SharedMethod method) {
    assertNotNull(method);
    if (method == null) throw new AssertionError();
    return method;
  }

  @Test
  void constructorsAreChosenByArguments() throws Throwable {
    assertEquals("a:0", type.instantiate("a", new Object[0]).toString());
    assertEquals("a:7", type.instantiate("a", new Object[] {7L}).toString());
    assertEquals("a:7", type.instantiate("a", new Object[] {7}).toString());
    assertEquals("a:-2", type.instantiate("a", new Object[] {1, 2}).toString());
    assertThrows(UncheckedIOException.class, () -> type.instantiate("a", new Object[] {"failing"}));
    var e = assertThrows(NotShareable.class, () -> type.instantiate(5, new Object[0]));
    assertSays(e, "no constructor for (java.lang.Integer), the key first");
    assertSays(e, "(java.lang.String,long)");
  }

  @Shared(key = "id")
  static class Forgetful {
    private final String id = "other";

    Forgetful(String id) {}

    @Accessor
    String id() {
      return id;
    }
  }

  @Shared(key = "missing")
  static class WithoutKey {}

  @Test
  void theKeyIsCheckedAgainstItsField() {
    var e =
        assertThrows(
            NotShareable.class,
            () -> SharedType.of(Forgetful.class).instantiate("k", new Object[0]));
    assertSays(e, "Forgetful.id holds other");
    assertSays(
        assertThrows(NotShareable.class, () -> SharedType.of(WithoutKey.class)),
        "no field \"missing\"");
  }

  @Test
  void exceptionsThatTheCodeCreatesOrDeclaresAreKnown() {
    assertEquals(
        Set.of(Overdrawn.class, IOException.class, UncheckedIOException.class), type.exceptions());
  }

  @Shared(implementation = CellInMemory.class, name = "cell")
  interface Cell<T> {
    @Accessor
    @Nullable T get();

    void set(T value);

    default boolean isEmpty() {
      return get() == null;
    }
  }

  static class CellInMemory<T> implements Cell<T> {
    private @Nullable T value;

    @Override
    public @Nullable T get() {
      return value;
    }

    @Override
    public void set(T newValue) {
      value = newValue;
    }
  }

  @Test
  void interfacesHaveTheMethodsOfTheInterfaceAndTheInstancesOfTheClass() throws Throwable {
    SharedType cell = SharedType.of(Cell.class);
    assertEquals(CellInMemory.class, cell.implementation());
    assertEquals(Cell.class, cell.face());
    assertEquals("cell", cell.name());
    assertEquals(
        List.of("get()", "isEmpty()", "set(java.lang.Object)"),
        cell.methods().stream().map(SharedMethod::id).toList());
    Object instance = cell.instantiate("k", new Object[0]);
    cell.method("set(java.lang.Object)").invoke(instance, new Object[] {"v"});
    assertEquals("v", cell.method("get()").invoke(instance, new Object[0]));
    assertEquals(false, cell.method("isEmpty()").invoke(instance, new Object[0]));
    assertEquals(SharedMethod.Kind.ACCESSOR, cell.method("get()").kind());
  }

  @Test
  void theSchemaDescribesFieldsAndMethods() {
    String schema = new String(type.schema(), StandardCharsets.UTF_8);
    assertTrue(schema.startsWith("type test.Account\nkey id\n"), schema);
    assertTrue(schema.contains("field balance long\n"), schema);
    assertTrue(schema.contains("method reset MUTATOR void\n"), schema);
  }

  private static void assertSays(Throwable thrown, String part) {
    String text = String.valueOf(thrown.getMessage());
    assertTrue(text.contains(part), text);
  }
}
