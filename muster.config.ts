import { defineConfig } from 'muster/config';

// The agents below ship with Muster. `assistant` is there when OPENAI_BASE_URL or OPENAI_API_KEY is set.
export default defineConfig({
  agents: {
    echo: { kind: 'echo', description: 'Answers with its input, word by word.' },
    'word-count': { kind: 'function', file: './agents/word-count.ts', description: 'Counts words: an example of a function agent.' },
  },
});
