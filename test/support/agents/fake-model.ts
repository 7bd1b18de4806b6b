import { LLMock } from '@copilotkit/aimock';

export interface FakeModel {
  readonly mock: LLMock;
  /** What an `openai` agent takes as `baseUrl`. */
  readonly baseUrl: string;
  readonly close: () => Promise<void>;
}

/** An OpenAI-compatible server on a free port of the loopback; say what it answers with `mock.on...`. */
export async function startFakeModel(): Promise<FakeModel> {
  const mock = await LLMock.create({ host: '127.0.0.1', port: 0, chunkSize: 6 });
  return { mock, baseUrl: `${mock.url}/v1`, close: () => mock.stop() };
}
