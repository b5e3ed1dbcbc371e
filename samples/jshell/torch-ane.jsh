import dev.torchane.*;
import dev.torchane.build.*;
import dev.torchane.diffusion.*;
import dev.torchane.engine.*;
import dev.torchane.llm.*;
import dev.torchane.program.*;
import java.nio.file.*;
