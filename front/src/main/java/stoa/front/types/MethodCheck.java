package stoa.front.types;

import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.ArrayLoadInstruction;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.ConvertInstruction;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.classfile.instruction.StackInstruction;
import java.lang.classfile.instruction.StoreInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.classfile.instruction.ThrowInstruction;
import java.lang.classfile.instruction.TypeCheckInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.NotShareable;
import stoa.Shared;
import stoa.spi.SharedField;

/// Checks the bytecode of one method for a [Verifier]. One thread uses it, once.
final class MethodCheck {
  /*
   * An abstract interpretation with one question per stack slot and local variable: is it the
   * object itself (THIS), one that this method has just created (FRESH), or anything else (OTHER)?
   * Where paths join and differ, the answer is OTHER. THIS also stands for the outer object that an
   * inner class reaches through its field this$0. A long or double takes two slots, both OTHER, so
   * that the stack instructions need no types.
   *
   * Backward branches change the answers at their target; the check reads the code again until
   * nothing changes. That takes at most a few passes, as answers only ever become OTHER. The last
   * pass throws refusals.
   */
  private static final byte OTHER = 0;
  private static final byte THIS = 1;
  private static final byte FRESH = 2;

  private static final int SERIALIZABLE_LAMBDA = 1;

  private static final Logger LOG = LoggerFactory.getLogger(MethodCheck.class);
  private static final String WEAVE =
      "weave the class: run stoa.weave.WeaveDirectories behind the compiler, or the program with"
          + " -javaagent:stoa-weave.jar";

  // The warnings that were logged for the methods of a class.
  private static final ClassValue<Set<String>> WARNED =
      new ClassValue<>() {
        @Override
        protected Set<String> computeValue(Class<?> type) {
          return ConcurrentHashMap.newKeySet();
        }
      };

  private final Verifier verifier;
  private final Class<?> owner;
  private final MethodModel method;
  private final String name;
  private final MethodTypeDesc type;
  private final boolean classInitializer;
  private final Map<Label, Frame> frames = new HashMap<>();

  private byte[] stack = new byte[16];
  private int depth;
  private byte[] locals = new byte[8];
  private boolean reachable = true;
  private boolean reporting;
  private boolean changed;

  /// The answers at a join of paths. Immutable.
  private static final class Frame {
    private final byte[] stack;
    private final byte[] locals;

    Frame(byte[] stack, byte[] locals) {
      this.stack = stack;
      this.locals = locals;
    }
  }

  MethodCheck(Verifier verifier, Class<?> owner, MethodModel method) {
    this.verifier = verifier;
    this.owner = owner;
    this.method = method;
    this.name = method.methodName().stringValue();
    this.type = method.methodTypeSymbol();
    this.classInitializer = name.equals("<clinit>");
  }

  void run() {
    if (method.flags().has(AccessFlag.SYNCHRONIZED) && verifier.isShared(owner)) {
      throw refuse("is synchronized", "calls on one object never overlap, so remove synchronized");
    }
    if (method.flags().has(AccessFlag.NATIVE)) throw refuse("is native", "write it in Java");
    CodeModel code = method.code().orElse(null);
    if (code == null) return;
    do {
      changed = false;
      pass(code);
    } while (changed);
    reporting = true;
    pass(code);
  }

  private void pass(CodeModel code) {
    depth = 0;
    reachable = true;
    Arrays.fill(locals, OTHER);
    if (!method.flags().has(AccessFlag.STATIC)) setLocal(0, THIS);
    if (takesOuter()) setLocal(1, THIS);
    for (CodeElement element : code) {
      switch (element) {
        case ExceptionCatch c -> handler(c.handler());
        case LabelTarget target -> arrive(target.label());
        case Instruction instruction when reachable -> step(instruction);
        default -> {}
      }
    }
  }

  /// Returns whether this is a constructor of an inner class, whose first argument is the outer
  /// object.
  private boolean takesOuter() {
    if (!name.equals("<init>") || Modifier.isStatic(owner.getModifiers())) return false;
    Class<?> outer = owner.getEnclosingClass();
    boolean first =
        outer != null
            && type.parameterCount() > 0
            && type.parameterType(0).descriptorString().equals(outer.descriptorString());
    if (!first || owner.isMemberClass()) return first;
    Method around = owner.getEnclosingMethod();
    return around != null
        ? !Modifier.isStatic(around.getModifiers())
        : owner.getEnclosingConstructor() != null;
  }

  // ---- frames

  private void handler(Label label) {
    byte[] nothing = new byte[locals.length];
    if (!method.flags().has(AccessFlag.STATIC)) nothing[0] = THIS;
    frames.putIfAbsent(label, new Frame(new byte[] {OTHER}, nothing));
  }

  private void arrive(Label label) {
    Frame known = frames.get(label);
    if (reachable) {
      jump(label);
      known = frames.get(label);
    }
    if (known == null) return; // only a later, backward branch leads here: the next pass knows it
    stack = Arrays.copyOf(known.stack, Math.max(16, known.stack.length));
    depth = known.stack.length;
    locals = known.locals.clone();
    reachable = true;
  }

  private void jump(Label label) {
    Frame known = frames.get(label);
    byte[] here = Arrays.copyOf(stack, depth);
    if (known == null) {
      frames.put(label, new Frame(here, locals.clone()));
      changed = true;
      return;
    }
    byte[] mergedStack = meet(known.stack, here);
    byte[] mergedLocals = meet(known.locals, locals);
    boolean same =
        Arrays.equals(mergedStack, known.stack) && Arrays.equals(mergedLocals, known.locals);
    if (same) return;
    frames.put(label, new Frame(mergedStack, mergedLocals));
    changed = true;
  }

  private static byte[] meet(byte[] known, byte[] here) {
    byte[] result = known.clone();
    for (int i = 0; i < result.length; i++) {
      if (i >= here.length || here[i] != result[i]) result[i] = OTHER;
    }
    return result;
  }

  private void push(byte value) {
    if (depth == stack.length) stack = Arrays.copyOf(stack, depth * 2);
    stack[depth++] = value;
  }

  private void push(TypeKind kind) {
    for (int i = kind.slotSize(); i > 0; i--) push(OTHER);
  }

  private byte pop() {
    return stack[--depth];
  }

  private void pop(int slots) {
    depth -= slots;
  }

  private void setLocal(int slot, byte value) {
    if (slot >= locals.length) locals = Arrays.copyOf(locals, Math.max(slot + 1, slot * 2));
    locals[slot] = value;
  }

  // ---- instructions

  private void step(Instruction instruction) {
    switch (instruction) {
      case LoadInstruction load -> {
        if (load.typeKind() == TypeKind.REFERENCE) {
          push(load.slot() < locals.length ? locals[load.slot()] : OTHER);
        } else {
          push(load.typeKind());
        }
      }
      case StoreInstruction store -> {
        int slots = store.typeKind().slotSize();
        byte value = pop();
        pop(slots - 1);
        setLocal(store.slot(), slots == 1 ? value : OTHER);
        if (slots == 2) setLocal(store.slot() + 1, OTHER);
      }
      case ConstantInstruction constant -> push(constant.typeKind());
      case FieldInstruction field -> field(field);
      case InvokeInstruction invoke -> invoke(invoke);
      case InvokeDynamicInstruction dynamic -> dynamic(dynamic);
      case NewObjectInstruction object -> {
        Class<?> created = verifier.load(object.className().asInternalName());
        if (created != null && reporting) {
          warnOfNew(created);
          verifier.instantiate(created);
        }
        push(FRESH);
      }
      case NewPrimitiveArrayInstruction _, NewReferenceArrayInstruction _ -> {
        pop();
        push(OTHER);
      }
      case NewMultiArrayInstruction array -> {
        pop(array.dimensions());
        push(OTHER);
      }
      case TypeCheckInstruction check -> {
        if (check.opcode() == Opcode.INSTANCEOF) {
          pop();
          push(OTHER);
        }
      }
      case ArrayLoadInstruction array -> {
        pop(2);
        push(array.typeKind());
      }
      case ArrayStoreInstruction array -> pop(2 + array.typeKind().slotSize());
      case StackInstruction s -> shuffle(s.opcode());
      case OperatorInstruction operator -> operator(operator);
      case ConvertInstruction convert -> {
        pop(convert.fromType().slotSize());
        push(convert.toType());
      }
      case BranchInstruction branch -> branch(branch);
      case TableSwitchInstruction table -> jumps(table.defaultTarget(), table.cases());
      case LookupSwitchInstruction lookup -> jumps(lookup.defaultTarget(), lookup.cases());
      case ReturnInstruction _, ThrowInstruction _ -> reachable = false;
      case MonitorInstruction monitor -> {
        pop();
        if (reporting && monitor.opcode() == Opcode.MONITORENTER) {
          throw refuse(
              "has a synchronized block", "calls on one object never overlap, so remove it");
        }
      }
      default -> {} // nop, iinc
    }
  }

  private void branch(BranchInstruction branch) {
    switch (branch.opcode()) {
      case GOTO, GOTO_W -> {}
      case IF_ACMPEQ, IF_ACMPNE, IF_ICMPEQ, IF_ICMPNE, IF_ICMPLT, IF_ICMPGE, IF_ICMPGT, IF_ICMPLE ->
          pop(2);
      default -> pop(1);
    }
    jump(branch.target());
    boolean always = branch.opcode() == Opcode.GOTO || branch.opcode() == Opcode.GOTO_W;
    if (always) reachable = false;
  }

  private void jumps(Label otherwise, List<SwitchCase> cases) {
    pop();
    jump(otherwise);
    for (SwitchCase c : cases) jump(c.target());
    reachable = false;
  }

  private void operator(OperatorInstruction operator) {
    int slots = operator.typeKind().slotSize();
    switch (operator.opcode()) {
      case INEG, LNEG, FNEG, DNEG -> {}
      case ARRAYLENGTH -> {
        pop();
        push(OTHER);
      }
      case LCMP, DCMPG, DCMPL -> {
        pop(4);
        push(OTHER);
      }
      case FCMPG, FCMPL -> {
        pop(2);
        push(OTHER);
      }
      case LSHL, LSHR, LUSHR -> pop();
      default -> pop(slots); // a op b leaves one of the same kind
    }
  }

  private void shuffle(Opcode opcode) {
    switch (opcode) {
      case POP -> pop();
      case POP2 -> pop(2);
      case DUP -> insert(1, 0);
      case DUP_X1 -> insert(1, 1);
      case DUP_X2 -> insert(1, 2);
      case DUP2 -> insert(2, 0);
      case DUP2_X1 -> insert(2, 1);
      case DUP2_X2 -> insert(2, 2);
      case SWAP -> {
        byte a = pop();
        byte b = pop();
        push(a);
        push(b);
      }
      default -> throw new IllegalStateException("no stack instruction: " + opcode);
    }
  }

  /// Copies the top `count` slots below the next `under` ones.
  private void insert(int count, int under) {
    for (int i = 0; i < count; i++) push(OTHER);
    System.arraycopy(stack, depth - 2 * count - under, stack, depth - count - under, count + under);
    System.arraycopy(stack, depth - count, stack, depth - 2 * count - under, count);
  }

  // ---- fields

  private void field(FieldInstruction field) {
    TypeKind kind = TypeKind.fromDescriptor(field.type().stringValue());
    switch (field.opcode()) {
      case GETSTATIC -> {
        push(kind);
        if (reporting) readStatic(field);
      }
      case PUTSTATIC -> {
        pop(kind.slotSize());
        if (reporting) writeStatic(field);
      }
      case GETFIELD -> {
        byte receiver = pop();
        if (reporting) instanceField(field, receiver, "reads");
        boolean outer = field.name().stringValue().startsWith("this$");
        if (receiver == THIS && outer) push(THIS);
        else push(kind);
      }
      case PUTFIELD -> {
        pop(kind.slotSize());
        byte receiver = pop();
        if (reporting) {
          instanceField(field, receiver, "assigns");
          assigned(field, receiver);
        }
      }
      default -> throw new IllegalStateException("no field instruction: " + field.opcode());
    }
  }

  private void readStatic(FieldInstruction field) {
    boolean input =
        field.owner().asInternalName().equals("java/lang/System")
            && field.name().equalsString("in");
    if (input) throw refuse("reads System.in", "read it in the caller and pass the result");
    if (field.owner().asInternalName().startsWith("java/")) return;
    Class<?> target = verifier.load(field.owner().asInternalName());
    Field found = target == null ? null : SharedField.find(target, field.name().stringValue());
    if (found != null && found.isAnnotationPresent(Shared.class)) {
      throw refuse(
          "reads "
              + found.getDeclaringClass().getName()
              + "."
              + found.getName()
              + ", which is annotated with @Shared, and is not woven",
          WEAVE);
    }
  }

  /// Logs once that `new` of a class with a key creates no shared object here, as [Shared]
  /// describes for woven code.
  private void warnOfNew(Class<?> created) {
    Shared shared = created.getDeclaredAnnotation(Shared.class);
    if (shared == null || shared.key().isEmpty() || created.isInterface()) return;
    String method = Verifier.describe(owner, name, type);
    if (!WARNED.get(owner).add(method + " " + created.getName())) return;
    LOG.warn(
        "{} is not woven: its new {} makes an ordinary object, and not the shared one of its key;"
            + " {}, or use Call.get",
        method,
        created.getName(),
        WEAVE);
  }

  private void writeStatic(FieldInstruction field) {
    Class<?> target = verifier.load(field.owner().asInternalName());
    boolean own = classInitializer && target == owner;
    if (target == null || own || Platform.has(target)) return;
    throw refuse(
        "assigns the static field " + target.getName() + "." + field.name().stringValue(),
        "keep it in a field of the object, or in a shared object of its own");
  }

  private void instanceField(FieldInstruction field, byte receiver, String verb) {
    if (receiver == THIS || receiver == FRESH) return;
    Class<?> target = verifier.load(field.owner().asInternalName());
    if (target == null || !verifier.isShared(target)) return;
    throw refuse(
        verb
            + " the field "
            + target.getName()
            + "."
            + field.name().stringValue()
            + " of another object than this, which may be a proxy without state",
        "call a method of that object");
  }

  private void assigned(FieldInstruction field, byte receiver) {
    if (receiver != THIS || !verifier.isAccessor(owner, name + Verifier.signature(type))) return;
    throw refuse(
        "is marked "
            + verifier.annotation(name + Verifier.signature(type))
            + " and assigns the field "
            + field.name().stringValue(),
        "remove the annotation, or the assignment");
  }

  // ---- calls

  private void invoke(InvokeInstruction invoke) {
    MethodTypeDesc called = invoke.typeSymbol();
    pop(slots(called));
    byte receiver = invoke.opcode() == Opcode.INVOKESTATIC ? FRESH : pop();
    push(TypeKind.from(called.returnType()));
    if (!reporting) return;
    String calledName = invoke.name().stringValue();
    String calledOwner = invoke.owner().asInternalName();
    checkCall(calledOwner, calledName, invoke.type().stringValue(), called);
    if (calledName.equals("<init>") || receiver == THIS || receiver == FRESH) return;
    Class<?> target = verifier.load(calledOwner);
    if (target == null || !verifier.isShared(target)) return;
    Method found = declared(target, calledName, invoke.type().stringValue());
    if (found != null && Modifier.isPrivate(found.getModifiers())) {
      throw refuse(
          "calls the private method "
              + SharedType.member(found)
              + " of another object than this, which may be a proxy without state",
          "make that method package-private, so that the proxy passes the call on");
    }
  }

  private static @Nullable Method declared(Class<?> type, String name, String descriptor) {
    for (Method candidate : type.getDeclaredMethods()) {
      boolean same =
          candidate.getName().equals(name)
              && java.lang.invoke.MethodType.methodType(
                      candidate.getReturnType(), candidate.getParameterTypes())
                  .toMethodDescriptorString()
                  .equals(descriptor);
      if (same) return candidate;
    }
    return null;
  }

  private void checkCall(
      String calledOwner, String calledName, String descriptor, MethodTypeDesc called) {
    String remedy = ForbiddenMethods.remedy(calledOwner, calledName, descriptor);
    if (remedy == null && !classInitializer) {
      remedy = ForbiddenMethods.salted(calledOwner, calledName, descriptor);
    }
    if (remedy == null && ForbiddenMethods.shuffles(calledOwner, calledName, descriptor)) {
      remedy = "pass a java.util.Random seeded from Call.random() as its second argument";
    }
    if (remedy != null) {
      String shown = calledOwner.replace('/', '.').replace('$', '.');
      String text =
          calledName.equals("<init>")
              ? "creates a " + shown
              : "calls " + shown + "." + calledName + Verifier.signature(called);
      throw refuse(text, remedy);
    }
    Class<?> target = verifier.load(calledOwner);
    if (target != null) verifier.call(target, calledName, descriptor);
  }

  private void dynamic(InvokeDynamicInstruction dynamic) {
    MethodTypeDesc called = dynamic.typeSymbol();
    pop(slots(called));
    push(TypeKind.from(called.returnType()));
    if (!reporting) return;
    DirectMethodHandleDesc bootstrap = dynamic.bootstrapMethod();
    List<ConstantDesc> arguments = dynamic.bootstrapArgs();
    boolean alternative = bootstrap.methodName().equals("altMetafactory");
    if (alternative
        && arguments.size() > 3
        && arguments.get(3) instanceof Integer flags
        && (flags & SERIALIZABLE_LAMBDA) != 0) {
      throw refuse(
          "creates a serializable lambda", "write a class or a record with a name instead");
    }
    for (ConstantDesc argument : arguments) {
      if (argument instanceof DirectMethodHandleDesc handle) target(handle);
    }
  }

  private void target(DirectMethodHandleDesc handle) {
    switch (handle.kind()) {
      case GETTER, SETTER, STATIC_GETTER, STATIC_SETTER -> {} // of records, by ObjectMethods
      case CONSTRUCTOR -> {
        String created = Verifier.internalName(handle);
        checkCall(created, "<init>", handle.lookupDescriptor(), MethodTypeDesc.ofDescriptor("()V"));
        Class<?> type = verifier.load(created);
        if (type != null) {
          warnOfNew(type);
          verifier.instantiate(type);
        }
      }
      default ->
          checkCall(
              Verifier.internalName(handle),
              handle.methodName(),
              handle.lookupDescriptor(),
              MethodTypeDesc.ofDescriptor(handle.lookupDescriptor()));
    }
  }

  private static int slots(MethodTypeDesc type) {
    int slots = 0;
    for (ClassDesc parameter : type.parameterList()) slots += TypeKind.from(parameter).slotSize();
    return slots;
  }

  private NotShareable refuse(String does, String remedy) {
    return new NotShareable(Verifier.describe(owner, name, type) + " " + does + "; " + remedy);
  }
}
