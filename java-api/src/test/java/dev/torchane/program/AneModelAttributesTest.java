package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Buffers of loaded models by their names. */
class AneModelAttributesTest {

    private static final String LOGGED = """
            12:00:01 model: _ANEModel: { modelURL=file:///tmp/qwen.mil : state=3 : attr={
                ANEFModelDescription =     {
                    ANEFModelProcedures =         (
                                    {
                            ANEFModelInputSymbolIndexArray = ( 1, 0 );
                            ANEFModelOutputSymbolIndexArray = ( 0 );
                            ANEFModelProcedureID = 1;
                        },
                                    {
                            ANEFModelInputSymbolIndexArray = ( 2 );
                            ANEFModelOutputSymbolIndexArray = ( 1 );
                            ANEFModelProcedureID = 0;
                        }
                    );
                    kANEFModelInputSymbolsArrayKey = ( "i_hidden", "w_norm", ids );
                    kANEFModelOutputSymbolsArrayKey = ( "logits@output", "k_new@output" );
                    kANEFModelProcedureNameToIDMapKey =         {
                        "0@qwen_out" = 1;
                        "0@qwen_qkv" = 0;
                    };
                };
                NetworkStatusList =     (
                            {
                        LiveInputList =             (
                                            {
                                Name = "i_hidden";
                                PlaneDescriptor = ( { PlaneID = 0; RowStride = 64; } );
                                Symbol = "i_hidden";
                                Width = 1;
                            }
                        );
                        LiveOutputList = ();
                        Name = "0@qwen_out";
                    }
                );
            } : perfStatsMask=0 }
            """;

    @Test
    void buffersAreFoundByNameWhateverTheirOrder() {
        AneModelAttributes attributes = AneModelAttributes.parse(LOGGED);
        assertEquals(
                List.of("qwen_out", "qwen_qkv"),
                attributes.procedures().stream()
                        .map(AneModelAttributes.Procedure::name)
                        .toList());
        AneModelAttributes.Procedure out = attributes.procedures().getFirst();
        assertEquals(1, out.id());
        assertEquals(1, out.buffer("w_norm").symbol());
        assertEquals(0, out.buffer("logits").symbol());
        assertEquals(
                Map.of("PlaneID", 0L, "RowStride", 64L, "Width", 1L),
                out.buffer("i_hidden").layout());
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> out.buffer("k_new"));
        assertTrue(e.getMessage().contains("inputs [w_norm, i_hidden] and outputs [logits]"), e.getMessage());
    }

    @Test
    void brokenAttributesAreRefusedWithTheirPlace() {
        for (String broken : List.of(
                LOGGED.replace("= ( 0 );", "= ( 7 );"),
                LOGGED.replace("ANEFModelProcedures", "Others"),
                LOGGED.replace("\"w_norm\",", "\"w_norm\" 3"),
                LOGGED.substring(0, 700),
                "nothing here",
                "{ ANEFModelDescription = " + "(".repeat(100_000))) {
            assertThrows(TorchAneException.class, () -> AneModelAttributes.parse(broken));
        }
        TorchAneException e = assertThrows(
                TorchAneException.class, () -> AneModelAttributes.parse(LOGGED.replace("\"w_norm\",", "\"w_norm\" 3")));
        assertTrue(e.getMessage().startsWith("modelAttributes:15:"), e.getMessage());
    }

    @Test
    void mutatedAttributesAreReadOrRefused() {
        Random random = new Random(3);
        String alphabet = "(){}=;,\"\\ 0a@";
        for (int i = 0; i < 2000; i++) {
            StringBuilder mutated = new StringBuilder(LOGGED);
            for (int changes = 0; changes < 3; changes++) {
                mutated.setCharAt(random.nextInt(mutated.length()), alphabet.charAt(random.nextInt(alphabet.length())));
            }
            try {
                AneModelAttributes.parse(mutated.toString());
            } catch (TorchAneException expected) {
                assertTrue(expected.getMessage().startsWith("modelAttributes"), expected.getMessage());
            }
        }
    }
}
