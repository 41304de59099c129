import { serve } from './speaks-acp.mjs';

const words = `my credential is ${process.env.SKEP_CREDENTIAL}, my key nsec1${'q'.repeat(58)} \u001b[31mred\u001b[0m`;
if (process.argv[2] === 'at-start') {
  console.error(words);
  process.exitCode = 1;
} else {
  serve({
    onPrompt: (id) => {
      if (process.argv[2] === 'in-an-error') {
        process.stdout.write(
          `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: 401, message: `${words} ${'x'.repeat(5_000)}` } })}\n`,
        );
        return;
      }
      console.error(words);
      process.exit(1);
    },
  });
}
