/** Usage as providers count it, with what all of it is. */
export const USAGES: readonly [
  provider: string,
  usage: unknown,
  tokens: [input: number, output: number, cached: number, reasoning: number],
][] = [
  [
    'OpenAI',
    {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    [100, 50, 64, 30],
  ],
  [
    'OpenAI, without a total',
    { prompt_tokens: 100, completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 30 } },
    [100, 50, 0, 30],
  ],
  [
    'xAI, reasoning beside',
    {
      prompt_tokens: 10_120,
      completion_tokens: 1499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2809 },
    },
    [10_120, 4308, 128, 2809],
  ],
  [
    'xAI, without a total',
    { prompt_tokens: 12, completion_tokens: 1, completion_tokens_details: { reasoning_tokens: 386 } },
    [12, 387, 0, 386],
  ],
  ['Google, thinking in the total only', { prompt_tokens: 8, completion_tokens: 12, total_tokens: 520 }, [8, 512, 0, 500]],
  [
    'Google, its own names',
    { promptTokenCount: 80, candidatesTokenCount: 20, thoughtsTokenCount: 40, cachedContentTokenCount: 60, totalTokenCount: 140 },
    [80, 60, 60, 40],
  ],
  [
    'Google, with what its tools read',
    { promptTokenCount: 100, toolUsePromptTokenCount: 30, candidatesTokenCount: 20, thoughtsTokenCount: 40, totalTokenCount: 190 },
    [130, 60, 0, 40],
  ],
  [
    'a gateway that leaves reasoning out of the total too',
    { prompt_tokens: 100, completion_tokens: 0, total_tokens: 100, completion_tokens_details: { reasoning_tokens: 80 } },
    [100, 80, 0, 80],
  ],
  ['Anthropic', { input_tokens: 10, output_tokens: 7, cache_read_input_tokens: 90, cache_creation_input_tokens: 5 }, [105, 7, 90, 0]],
  [
    'Anthropic, through a gateway',
    { prompt_tokens: 105, completion_tokens: 7, total_tokens: 112, cache_read_input_tokens: 90, cache_creation_input_tokens: 5 },
    [105, 7, 90, 0],
  ],
  [
    'the Responses API',
    {
      input_tokens: 75,
      output_tokens: 30,
      total_tokens: 105,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 10 },
    },
    [75, 30, 40, 10],
  ],
  [
    'DeepSeek',
    { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109, prompt_cache_hit_tokens: 80, prompt_cache_miss_tokens: 20 },
    [100, 9, 80, 0],
  ],
  ['Moonshot', { prompt_tokens: 1336, completion_tokens: 31, total_tokens: 1367, cached_tokens: 1280 }, [1336, 31, 1280, 0]],
  ['Perplexity', { prompt_tokens: 33, completion_tokens: 70, total_tokens: 103, reasoning_tokens: 50 }, [33, 70, 0, 50]],
  ['Ollama, its own names', { prompt_eval_count: 26, eval_count: 298 }, [26, 298, 0, 0]],
  ['Bedrock', { inputTokens: 4, outputTokens: 5, totalTokens: 19, cacheReadInputTokens: 10, cacheWriteInputTokens: 0 }, [14, 5, 10, 0]],
  ['numbers as text', { prompt_tokens: '11', completion_tokens: '4' }, [11, 4, 0, 0]],
];
