package stoa.bench.code;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Map;
import java.util.Objects;

/// Makes versions of [Ledger].
final class LedgerVersions {
  private LedgerVersions() {}

  /// The class files of the version that multiplies by a factor.
  static Map<String, byte[]> version(int factor) {
    ClassTransform multiplying =
        (builder, element) -> {
          if (element instanceof MethodModel method && method.methodName().equalsString("factor")) {
            builder.withMethodBody(
                "factor",
                MethodTypeDesc.of(ConstantDescs.CD_int),
                method.flags().flagsMask(),
                code -> code.loadConstant(factor).ireturn());
          } else {
            builder.with(element);
          }
        };
    byte[] file = ClassFile.of().transformClass(ClassFile.of().parse(file()), multiplying);
    return Map.of(Ledger.class.getName(), file);
  }

  private static byte[] file() {
    try (InputStream in =
        Objects.requireNonNull(Ledger.class.getResourceAsStream("Ledger.class"))) {
      return in.readAllBytes();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
