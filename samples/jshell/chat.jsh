// ./torch-ane jshell samples/jshell/chat.jsh
// Asks the demo's model two questions. Run ./torch-ane demo once before: it fetches and builds the model.
var model = TorchAne.cacheDir().resolve("demo").resolve("SmolLM2-135M-Instruct.Q4_1.gguf");
var lm = CausalLM.fromPretrained(model, CausalLMOptions.defaults());
for (var question : List.of("What is the capital of France?", "Name three colours.")) {
    System.out.println("> " + question);
    var answer = lm.generate(question, GenerateOptions.defaults().withMaxNewTokens(48));
    System.out.println(answer.text());
    System.out.printf("(%.1f tokens per second)%n", answer.stats().decodePerSecond());
}
lm.close();
/exit
