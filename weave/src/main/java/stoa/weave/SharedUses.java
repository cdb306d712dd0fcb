package stoa.weave;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.constantpool.FieldRefEntry;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Weaves `new` and static fields in class files as [stoa.Shared] describes, see [stoa.spi.Woven].
/// Weaving again changes nothing. Thread-safe.
public final class SharedUses {
  /*
   * A `new` is NEW, DUP, the arguments, and the call of the constructor. Values of the type Absent
   * take the places of the two uninitialized references on the stack, also where a compiler saves
   * them in variables around a try block. The call becomes an invokedynamic of the arguments alone,
   * and further instructions remove the two below its result. Any other use of them fails
   * verification, as nothing accepts an Absent.
   *
   * Nesting matches a `new` and its call, in the order of the code. A call of a constructor without
   * a `new` is this(...) or super(...), and stays.
   *
   * A constructor as a method handle becomes the handle of a static method that has such a `new`.
   */
  private static final ClassDesc WOVEN = ClassDesc.of("stoa.spi.Woven");
  private static final ClassDesc ABSENT = WOVEN.nested("Absent");
  private static final ClassDesc REFUSAL = ClassDesc.of("stoa.NotShareable");
  private static final DirectMethodHandleDesc INSTANCE =
      ConstantDescs.ofCallsiteBootstrap(WOVEN, "instance", ConstantDescs.CD_CallSite);
  private static final DirectMethodHandleDesc FIELD =
      ConstantDescs.ofCallsiteBootstrap(
          WOVEN, "field", ConstantDescs.CD_CallSite, ConstantDescs.CD_Class);
  private static final String REFERENCE = "stoa$new";

  private final ClassFile format;
  private final SharedNames names;
  private final Consumer<String> refused;

  /// Weaves class files of a loader.
  ///
  /// @param loader finds the files of the classes that they use
  /// @param refused receives each method or field that cannot be woven, with the reason; such a
  ///   method throws [stoa.NotShareable]
  public SharedUses(ClassLoader loader, Consumer<String> refused) {
    this(loader::getResourceAsStream, refused);
  }

  SharedUses(FilesOfClasses files, Consumer<String> refused) {
    this.names = new SharedNames(files);
    this.refused = refused;
    format = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(files.hierarchy()));
  }

  /// Returns the woven class file; the same array when there is nothing to weave.
  public byte[] weave(byte[] classFile) {
    ClassModel model;
    try {
      model = format.parse(classFile);
      if (!mentions(model)) return classFile;
    } catch (IllegalArgumentException unreadable) {
      return classFile; // the JVM reports the error
    }
    for (SharedNames.SharedStatic field : SharedNames.fields(model)) {
      if (field.problem() != null) refused.accept(shown(field) + field.problem());
    }
    Map<MethodModel, Plan> plans = new LinkedHashMap<>();
    for (MethodModel method : model.methods()) {
      CodeModel code = method.code().orElse(null);
      if (code == null) continue;
      Plan plan = new Plan(model, method, code);
      if (!plan.isEmpty()) plans.put(method, plan);
    }
    return plans.isEmpty() ? classFile : woven(model, plans);
  }

  private byte[] woven(ClassModel model, Map<MethodModel, Plan> plans) {
    plans.forEach((method, plan) -> {
      if (plan.refusal != null) return;
      try {
        var problems = format.verify(transformed(model, Map.of(method, plan)));
        if (problems.size() > format.verify(model).size()) {
          plan.refuse(String.valueOf(problems.getLast().getMessage()));
        }
      } catch (RuntimeException failed) {
        plan.refuse(String.valueOf(failed.getMessage()));
      }
    });
    plans
        .values()
        .forEach(plan -> {
          if (plan.refusal != null) refused.accept(plan.refusal);
        });
    return transformed(model, plans);
  }

  private byte[] transformed(ClassModel model, Map<MethodModel, Plan> plans) {
    return format.transformClass(model, new Transform(model, plans));
  }

  /// Returns whether a class uses shared classes. Cheap for the others.
  private boolean mentions(ClassModel model) {
    names.learn(model);
    if (names.hasFields(model.thisClass().asInternalName())) return true;
    for (PoolEntry entry : model.constantPool()) {
      boolean shared =
          switch (entry) {
            case MethodRefEntry called ->
                called.name().equalsString(ConstantDescs.INIT_NAME)
                    && names.isKeyed(called.owner().asInternalName());
            case FieldRefEntry field ->
                field.type().stringValue().startsWith("L")
                    && names.hasFields(field.owner().asInternalName());
            default -> false;
          };
      if (shared) return true;
    }
    return false;
  }

  private static String shown(SharedNames.SharedStatic field) {
    return field.owner().replace('/', '.') + "." + field.name();
  }

  private static String binary(ClassDesc type) {
    String descriptor = type.descriptorString();
    return descriptor.substring(1, descriptor.length() - 1);
  }

  private boolean isKeyed(DirectMethodHandleDesc handle) {
    return handle.kind() == DirectMethodHandleDesc.Kind.CONSTRUCTOR
        && names.isKeyed(binary(handle.owner()));
  }

  /// The weaving of one method.
  private final class Plan {
    private final String method;
    private final Set<Integer> news = new HashSet<>();
    private final Set<Integer> calls = new HashSet<>();
    private boolean other;
    private @Nullable String refusal;

    private record Pending(String type, int at) {}

    Plan(ClassModel model, MethodModel method, CodeModel code) {
      String owner = model.thisClass().asInternalName();
      this.method =
          owner.replace('/', '.')
              + "."
              + method.methodName().stringValue()
              + method.methodType().stringValue();
      boolean constructs = method.methodName().equalsString(ConstantDescs.INIT_NAME);
      boolean initializes = method.methodName().equalsString(ConstantDescs.CLASS_INIT_NAME);
      var pending = new ArrayDeque<Pending>();
      boolean nested = true;
      List<CodeElement> elements = code.elementList();
      for (int i = 0; i < elements.size(); i++) {
        switch (elements.get(i)) {
          case NewObjectInstruction made -> {
            String type = made.className().asInternalName();
            pending.push(new Pending(type, i));
            if (names.isKeyed(type)) {
              news.add(i);
              if (!isCopied(elements, i)) {
                refuse(
                    "its new " + type.replace('/', '.') + " is of a form that javac does not make");
              }
            }
          }
          case InvokeInstruction call
              when call.opcode() == Opcode.INVOKESPECIAL
                  && call.name().equalsString(ConstantDescs.INIT_NAME) -> {
            String type = call.owner().asInternalName();
            if (!pending.isEmpty() && pending.peek().type.equals(type)) {
              if (news.contains(pending.pop().at)) calls.add(i);
            } else if (!constructs || !pending.isEmpty()) {
              nested = false;
            }
          }
          case FieldInstruction access -> field(access, owner, initializes);
          case InvokeDynamicInstruction dynamic -> {
            for (ConstantDesc argument : dynamic.bootstrapArgs()) {
              other |= argument instanceof DirectMethodHandleDesc handle && isKeyed(handle);
            }
          }
          case ConstantInstruction constant
              when constant.constantValue() instanceof DirectMethodHandleDesc handle
                  && isKeyed(handle) ->
              refuse("it has the constructor of " + binary(handle.owner()) + " as a constant");
          default -> {}
        }
      }
      if (!news.isEmpty() && (!nested || news.size() != calls.size())) {
        refuse("not every new has its own call of a constructor behind it");
      }
    }

    private static boolean isCopied(List<CodeElement> elements, int at) {
      int next = at + 1;
      while (next < elements.size() && elements.get(next) instanceof LineNumber) next++;
      return next < elements.size()
          && elements.get(next) instanceof java.lang.classfile.Instruction instruction
          && instruction.opcode() == Opcode.DUP;
    }

    private void field(FieldInstruction access, String owner, boolean initializes) {
      boolean puts = access.opcode() == Opcode.PUTSTATIC;
      if (!puts && access.opcode() != Opcode.GETSTATIC) return;
      SharedNames.SharedStatic field =
          names.field(access.owner().asInternalName(), access.name().stringValue());
      if (field == null) return;
      other = true;
      if (field.problem() != null) {
        refuse("it uses " + shown(field) + ", which" + field.problem());
      } else if (puts && !(initializes && field.owner().equals(owner))) {
        refuse(
            "it assigns "
                + shown(field)
                + ", which is one shared collection for ever; change its contents");
      }
    }

    void refuse(String reason) {
      if (refusal == null) refusal = method + " cannot be woven: " + reason;
    }

    boolean isEmpty() {
      return news.isEmpty() && !other && refusal == null;
    }
  }

  /// Weaves the methods of one class.
  private final class Transform implements ClassTransform {
    private final ClassDesc owner;
    private final boolean isInterface;
    private final Map<MethodModel, Plan> plans;
    private final Map<DirectMethodHandleDesc, String> references = new LinkedHashMap<>();
    private final long earlier;

    Transform(ClassModel model, Map<MethodModel, Plan> plans) {
      this.owner = model.thisClass().asSymbol();
      this.isInterface = model.flags().has(AccessFlag.INTERFACE);
      this.plans = plans;
      this.earlier =
          model.methods().stream()
              .filter(method -> method.methodName().stringValue().startsWith(REFERENCE))
              .count();
    }

    @Override
    public void accept(ClassBuilder builder, ClassElement element) {
      Plan plan = element instanceof MethodModel method ? plans.get(method) : null;
      if (plan == null) {
        builder.with(element);
      } else if (plan.refusal != null) {
        builder.transformMethod((MethodModel) element, throwing(plan.refusal));
      } else {
        builder.transformMethod(
            (MethodModel) element,
            MethodTransform.transformingCode(CodeTransform.ofStateful(() -> new Sites(plan))));
      }
    }

    private static MethodTransform throwing(String reason) {
      return (builder, element) -> {
        if (element instanceof CodeModel) builder.withCode(code -> refuse(code, reason));
        else builder.with(element);
      };
    }

    private static void refuse(CodeBuilder code, String reason) {
      code.new_(REFUSAL)
          .dup()
          .loadConstant(reason)
          .invokespecial(
              REFUSAL,
              ConstantDescs.INIT_NAME,
              MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String))
          .athrow();
    }

    @Override
    public void atEnd(ClassBuilder builder) {
      references.forEach((constructor, name) -> {
        MethodTypeDesc type = constructor.invocationType();
        builder.withMethodBody(
            name,
            type,
            ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC,
            code -> {
              int slot = 0;
              for (ClassDesc parameter : type.parameterList()) {
                var kind = java.lang.classfile.TypeKind.from(parameter);
                code.loadLocal(kind, slot);
                slot += kind.slotSize();
              }
              code.invokedynamic(made(type)).areturn();
            });
      });
    }

    private static DynamicCallSiteDesc made(MethodTypeDesc type) {
      return DynamicCallSiteDesc.of(INSTANCE, "shared", type);
    }

    /// The code of one method.
    private final class Sites implements CodeTransform {
      private final Plan plan;
      private int at;

      Sites(Plan plan) {
        this.plan = plan;
      }

      @Override
      public void accept(CodeBuilder builder, CodeElement element) {
        int here = at++;
        switch (element) {
          case NewObjectInstruction _ when plan.news.contains(here) ->
              builder.aconst_null().checkcast(ABSENT);
          case InvokeInstruction call when plan.calls.contains(here) ->
              builder
                  .invokedynamic(made(call.typeSymbol().changeReturnType(call.owner().asSymbol())))
                  .swap()
                  .pop()
                  .swap()
                  .pop();
          case FieldInstruction access when isShared(access) -> {
            if (access.opcode() == Opcode.PUTSTATIC) {
              builder.pop();
            } else {
              builder.invokedynamic(
                  DynamicCallSiteDesc.of(
                      FIELD,
                      access.name().stringValue(),
                      MethodTypeDesc.of(access.typeSymbol()),
                      access.owner().asSymbol()));
            }
          }
          case InvokeDynamicInstruction dynamic when refersToNew(dynamic) -> with(builder, dynamic);
          default -> builder.with(element);
        }
      }

      private boolean isShared(FieldInstruction access) {
        return (access.opcode() == Opcode.GETSTATIC || access.opcode() == Opcode.PUTSTATIC)
            && names.field(access.owner().asInternalName(), access.name().stringValue()) != null;
      }

      private boolean refersToNew(InvokeDynamicInstruction dynamic) {
        return dynamic.bootstrapArgs().stream()
            .anyMatch(one -> one instanceof DirectMethodHandleDesc handle && isKeyed(handle));
      }

      private void with(CodeBuilder builder, InvokeDynamicInstruction dynamic) {
        var arguments = new ArrayList<ConstantDesc>();
        for (ConstantDesc argument : dynamic.bootstrapArgs()) {
          boolean constructs = argument instanceof DirectMethodHandleDesc handle && isKeyed(handle);
          arguments.add(constructs ? reference((DirectMethodHandleDesc) argument) : argument);
        }
        builder.invokedynamic(
            DynamicCallSiteDesc.of(
                dynamic.bootstrapMethod(),
                dynamic.name().stringValue(),
                dynamic.typeSymbol(),
                arguments.toArray(ConstantDesc[]::new)));
      }

      private ConstantDesc reference(DirectMethodHandleDesc constructor) {
        String name =
            references.computeIfAbsent(constructor, _ -> REFERENCE + (earlier + references.size()));
        return MethodHandleDesc.ofMethod(
            isInterface
                ? DirectMethodHandleDesc.Kind.INTERFACE_STATIC
                : DirectMethodHandleDesc.Kind.STATIC,
            owner,
            name,
            constructor.invocationType());
      }
    }
  }
}
