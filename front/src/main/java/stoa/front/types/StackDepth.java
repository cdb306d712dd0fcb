package stoa.front.types;

import java.lang.classfile.CodeElement;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.ArrayLoadInstruction;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.ConvertInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.classfile.instruction.LookupSwitchInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.classfile.instruction.StackInstruction;
import java.lang.classfile.instruction.StoreInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.classfile.instruction.TableSwitchInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The depth of the operand stack along straight code and forward branches, in slots.
///
/// The caller steps through one method from its start. After an instruction that does not fall
/// through, the depth is that of an earlier branch to the next label. One thread uses it.
public final class StackDepth {
  private final Map<Label, Integer> atLabel = new HashMap<>();
  private int slots;

  /// Creates a counter at the start of a method.
  public StackDepth() {}

  /// Returns the present depth.
  public int slots() {
    return slots;
  }

  /// Steps over the next element of the code.
  public void step(CodeElement element) {
    switch (element) {
      case LabelTarget target -> slots = atLabel.getOrDefault(target.label(), slots);
      case LoadInstruction load -> slots += load.typeKind().slotSize();
      case StoreInstruction store -> slots -= store.typeKind().slotSize();
      case ConstantInstruction constant -> slots += constant.typeKind().slotSize();
      case FieldInstruction field -> slots += change(field);
      case InvokeInstruction invoke -> {
        slots -= invoke.opcode() == Opcode.INVOKESTATIC ? 0 : 1;
        call(invoke.typeSymbol());
      }
      case InvokeDynamicInstruction dynamic -> call(dynamic.typeSymbol());
      case NewObjectInstruction _ -> slots++;
      case NewMultiArrayInstruction array -> slots += 1 - array.dimensions();
      case ArrayLoadInstruction array -> slots += array.typeKind().slotSize() - 2;
      case ArrayStoreInstruction array -> slots -= 2 + array.typeKind().slotSize();
      case StackInstruction stack -> slots += change(stack.opcode());
      case OperatorInstruction operator -> slots += change(operator);
      case ConvertInstruction convert ->
          slots += convert.toType().slotSize() - convert.fromType().slotSize();
      case BranchInstruction branch -> {
        slots -= operands(branch.opcode());
        atLabel.putIfAbsent(branch.target(), slots);
      }
      case TableSwitchInstruction table -> jumps(table.defaultTarget(), table.cases());
      case LookupSwitchInstruction lookup -> jumps(lookup.defaultTarget(), lookup.cases());
      case MonitorInstruction _ -> slots--;
      default -> {} // instanceof, checkcast, iinc, new arrays of one dimension, return, throw
    }
  }

  private void call(MethodTypeDesc type) {
    for (ClassDesc parameter : type.parameterList()) slots -= TypeKind.from(parameter).slotSize();
    slots += TypeKind.from(type.returnType()).slotSize();
  }

  private void jumps(Label otherwise, List<SwitchCase> cases) {
    slots--;
    atLabel.putIfAbsent(otherwise, slots);
    for (SwitchCase c : cases) atLabel.putIfAbsent(c.target(), slots);
  }

  private static int change(FieldInstruction field) {
    int size = TypeKind.fromDescriptor(field.type().stringValue()).slotSize();
    return switch (field.opcode()) {
      case GETSTATIC -> size;
      case PUTSTATIC -> -size;
      case GETFIELD -> size - 1;
      default -> -size - 1;
    };
  }

  private static int change(Opcode stack) {
    return switch (stack) {
      case POP -> -1;
      case POP2 -> -2;
      case DUP, DUP_X1, DUP_X2 -> 1;
      case DUP2, DUP2_X1, DUP2_X2 -> 2;
      default -> 0; // swap
    };
  }

  private static int change(OperatorInstruction operator) {
    int size = operator.typeKind().slotSize();
    return switch (operator.opcode()) {
      case INEG, LNEG, FNEG, DNEG, ARRAYLENGTH -> 0;
      case LCMP, DCMPG, DCMPL -> -3;
      case FCMPG, FCMPL, LSHL, LSHR, LUSHR -> -1;
      default -> -size;
    };
  }

  private static int operands(Opcode branch) {
    return switch (branch) {
      case GOTO, GOTO_W -> 0;
      case IF_ACMPEQ, IF_ACMPNE, IF_ICMPEQ, IF_ICMPNE, IF_ICMPLT, IF_ICMPGE, IF_ICMPGT, IF_ICMPLE ->
          2;
      default -> 1;
    };
  }
}
