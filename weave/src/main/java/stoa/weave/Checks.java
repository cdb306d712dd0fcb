package stoa.weave;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Inserts checks into the code of one method. One thread uses it, once.
final class Checks implements CodeTransform {
  /*
   * An endless run in one method passes a backward jump forever, or an exception returns it forever
   * to a handler that stands before the end of the code that it handles. An endless run in many
   * methods enters methods forever. So checks stand
   *
   * - at the entry of each method, except static initializers: stopping one leaves its class
   *   unusable, so only loops in it have checks;
   * - before each backward jump and each switch that may jump back;
   * - at the beginning of each such handler.
   *
   * A check before a jump stands where the jump stands. Handlers of its error there run, with
   * finally and monitor exits, and reach the next check. No handler in its method handles a check
   * at a handler: otherwise it could throw to itself forever. Compilers let handlers that exit
   * monitors, and those that only keep the exception, handle themselves; these run to their end.
   */
  private static final ClassDesc CANCELLATION = ClassDesc.of("stoa.spi.Cancellation");
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(ConstantDescs.CD_void);

  /// The entry of a handler: the beginning and end of its check.
  private record Entry(Label begin, Label end) {}

  private final boolean checksEntry;
  private final Map<Label, Integer> positions = new HashMap<>();
  private final List<ExceptionCatch> catches = new ArrayList<>();
  private final List<Label> thrownBackTo = new ArrayList<>();
  private final Map<Label, Entry> entries = new HashMap<>();
  private final Set<Label> passed = new HashSet<>();

  Checks(MethodModel method, CodeModel code) {
    checksEntry = !method.methodName().equalsString(ConstantDescs.CLASS_INIT_NAME);
    List<CodeElement> elements = code.elementList();
    for (int i = 0; i < elements.size(); i++) {
      if (elements.get(i) instanceof LabelTarget target) positions.put(target.label(), i);
      if (elements.get(i) instanceof ExceptionCatch caught) catches.add(caught);
    }
    for (ExceptionCatch caught : catches) {
      int handler = position(caught.handler());
      int from = Math.max(handler, position(caught.tryStart()));
      boolean back = handler < position(caught.tryEnd());
      if (back
          && !thrownBackTo.contains(caught.handler())
          && mayLoop(elements.subList(from, position(caught.tryEnd())))) {
        thrownBackTo.add(caught.handler());
      }
    }
  }

  /// Returns whether code that handles its own exceptions may do so forever.
  private static boolean mayLoop(List<CodeElement> handled) {
    boolean throwing = false;
    for (CodeElement element : handled) {
      if (element instanceof Instruction instruction) {
        if (instruction.opcode() == Opcode.MONITOREXIT) return false;
        throwing |=
            switch (instruction.opcode().kind()) {
              case STORE, LOAD, STACK, CONSTANT, NOP -> false; // a jump may be checked
              default -> true;
            };
      }
    }
    return throwing;
  }

  private int position(Label label) {
    Integer position = positions.get(label);
    if (position == null) throw new IllegalArgumentException("a label that stands nowhere");
    return position;
  }

  @Override
  public void atStart(CodeBuilder builder) {
    for (Label handler : thrownBackTo) {
      entries.put(handler, new Entry(builder.newLabel(), builder.newLabel()));
    }
    if (checksEntry) check(builder);
  }

  @Override
  public void accept(CodeBuilder builder, CodeElement element) {
    switch (element) {
      case ExceptionCatch caught -> with(builder, caught);
      case LabelTarget target -> {
        passed.add(target.label());
        Entry entry = entries.get(target.label());
        if (entry != null) {
          builder.labelBinding(entry.begin);
          check(builder);
          builder.labelBinding(entry.end);
        }
        builder.with(target);
      }
      case BranchInstruction branch -> checked(builder, branch, passed.contains(branch.target()));
      case LookupSwitchInstruction branch ->
          checked(builder, branch, jumpsBack(branch.defaultTarget(), branch.cases()));
      case TableSwitchInstruction branch ->
          checked(builder, branch, jumpsBack(branch.defaultTarget(), branch.cases()));
      default -> builder.with(element);
    }
  }

  private boolean jumpsBack(Label otherwise, List<SwitchCase> cases) {
    return passed.contains(otherwise)
        || cases.stream().anyMatch(one -> passed.contains(one.target()));
  }

  private static void checked(CodeBuilder builder, CodeElement jump, boolean back) {
    if (back) check(builder);
    builder.with(jump);
  }

  private static void check(CodeBuilder builder) {
    builder.invokestatic(CANCELLATION, "check", NOTHING);
  }

  /// Makes a handler begin with its check, and handle everything that it did except exceptions of
  /// handlers' checks.
  private void with(CodeBuilder builder, ExceptionCatch caught) {
    Entry entered = entries.get(caught.handler());
    Label handler = entered == null ? caught.handler() : entered.begin;
    Label from = caught.tryStart();
    int start = position(caught.tryStart());
    int end = position(caught.tryEnd());
    List<Label> within =
        entries.keySet().stream()
            .filter(label -> position(label) > start && position(label) <= end)
            .sorted(java.util.Comparator.comparingInt(this::position))
            .toList();
    for (Label label : within) {
      Entry entry = java.util.Objects.requireNonNull(entries.get(label));
      builder.with(ExceptionCatch.of(handler, from, entry.begin, caught.catchType()));
      from = entry.end;
    }
    boolean ends = !within.isEmpty() && position(within.getLast()) == end;
    if (!ends) {
      builder.with(ExceptionCatch.of(handler, from, caught.tryEnd(), caught.catchType()));
    }
  }
}
