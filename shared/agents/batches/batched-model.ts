import { createHash } from 'node:crypto';
import { simulateStreamingMiddleware, wrapLanguageModel } from 'ai';
import { Response } from 'undici';
import type { Settings } from '../../config/index.ts';
import type { CallOptions, GenerateResult, ModelSource, SdkModel } from '../../models/index.ts';
import { type BatchAnswer, type BatchWait, keyDigestOf, providerAt } from '../../providers/index.ts';
import type { AgentRun } from '../agent-kind.ts';
import type { GuardedFetch } from '../guarded-fetch.ts';
import { type CalledModel, callModel, type ModelPrompt } from '../loop/model-step.ts';
import type { LoopBatches } from '../loop/run-loop.ts';
import { type EndpointModel, openModelSource } from '../model-source.ts';

/** A call that may go by a batch. */
export interface BatchCall {
  /** The model. */
  readonly name: string;
  /** JSON that names the call among those of its run, which may come in another order then. By default they come in the same in each attempt. */
  readonly given?: string;
  /**
   * What it sends for a tenant, once it does go so; null where its provider has no batches now. An earlier attempt may have sent it then.
   */
  readonly begin: ((tenant: string) => Promise<BatchWait>) | null;
}

/** What came of a call: the batch's answer, and the number of the entry that keeps what the call gives. */
export interface BatchedCall {
  readonly answer: BatchAnswer;
  readonly at: number;
}

/**
 * Waits for the answer of a batch, without a slot. Null where the call never went so, or there is too little time. It is called again by each attempt that comes
 * there. Errors: JOURNAL_MISMATCH where an earlier attempt made another call.
 */
export type CallBatch = (call: BatchCall) => Promise<BatchedCall | null>;

/** A run whose calls may go by batches; undefined where its task has no `within`. */
export type BatchRun = Pick<AgentRun, 'callBatch' | 'models' | 'context'>;

export interface BatchedModel {
  readonly endpoint: EndpointModel;
  readonly providers: Settings['providers'] | undefined;
  /** Whether its tenant made the agent by API: its key is that tenant's. Defaults to false. */
  readonly isOwn?: boolean;
  /** The agent's own price of the model, millionths of a US dollar for a million tokens. */
  readonly ownPrice?: BatchWait['ownPrice'];
}

/** What a batch answered; `model` is null for a call that is to be made directly. */
interface Answered {
  readonly at: number;
  readonly model: SdkModel | null;
}

interface PlannedCall extends Pick<BatchCall, 'given'> {
  /** Makes the call of a model that sends nothing. */
  readonly make: (planned: SdkModel) => Promise<unknown>;
}

/** What [OpenAI](https://openai.com/api/pricing/) takes off. */
const BATCH_DISCOUNT = 0.5;

/** Has single calls of a run go by batches; each gives null where it never went so. */
function batchCalls(
  { callBatch, context, models }: BatchRun,
  { endpoint, providers = {}, ownPrice, isOwn = false }: BatchedModel,
): ((call: PlannedCall) => Promise<Answered | null>) | undefined {
  if (callBatch === undefined) return undefined;
  const { name, baseUrl, apiKey } = endpoint;
  const provider = providerAt(providers, baseUrl);
  const called = { provider: provider?.name ?? '', baseUrl, model: name, agent: context.task.agent };
  const discount = provider?.batchDiscount ?? BATCH_DISCOUNT;
  return async ({ given, make }) => {
    const begin = async (tenant: string): Promise<BatchWait> => {
      const own = isOwn ? tenant : undefined;
      const target = { ...called, keyDigest: keyDigestOf(apiKey, own), ...(own !== undefined && { tenant: own }) };
      const { body, maxMicroUsd } = await planCall({ endpoint, models }, make);
      return { target, body, maxMicroUsd: Math.ceil(maxMicroUsd * (1 - discount)), discount, ...(ownPrice && { ownPrice }) };
    };
    const batched = await callBatch({ name, begin: provider?.batch === true ? begin : null, ...(given !== undefined && { given }) });
    if (batched === null) return null;
    const { at, answer } = batched;
    if (answer.kind === 'answered') return { at, model: modelAnswering(endpoint, answer.body) };
    context.log.info(
      { event: 'batch.direct', batch: answer.batch, reason: answer.reason },
      'the model is called directly, and not by a batch',
    );
    return { at, model: null };
  };
}

interface LoopCalls extends BatchedModel {
  readonly called: CalledModel;
  /** A model that is asked for the format of the task's request. */
  readonly ask?: (model: SdkModel) => SdkModel;
  /** Whether calls of the run may come in another order in each attempt. */
  readonly mayMeet?: boolean;
}

/** Has the calls of a loop go by batches; undefined where its task has no `within`. */
export function batchLoop(
  run: BatchRun,
  { called, ask = (model) => model, mayMeet = false, ...batched }: LoopCalls,
): LoopBatches | undefined {
  const call = batchCalls(run, batched);
  if (call === undefined) return undefined;
  return async (prompt) => {
    const make = async (planned: SdkModel): Promise<unknown> =>
      await callModel({ ...called, model: ask(planned) }, prompt, run.context, () => undefined);
    const answered = await call({ make, ...(mayMeet && { given: digestOf(namedPrompt(batched.endpoint.name, prompt)) }) });
    if (answered === null) return null;
    const { at, model } = answered;
    return { at, called: model === null ? called : { ...called, model: buffered(model) } };
  };
}

/**
 * A model for a function whose calls go by batches while its task has time: each is kept in the journal then, by what it is called with. A stream of it is one
 * piece. Calls that go by none are made as those of `model`.
 */
export function batchModel(
  run: BatchRun & Pick<AgentRun, 'journal'>,
  { model: direct, ...batched }: BatchedModel & { readonly model: SdkModel },
): SdkModel {
  const call = batchCalls(run, batched);
  if (call === undefined) return direct;
  const { name } = batched.endpoint;
  const make = async (params: CallOptions): Promise<GenerateResult | null> => {
    const { abortSignal: _signal, headers: _headers, includeRawChunks: _chunks, ...named } = params;
    const answered = await call({ given: digestOf([name, named]), make: async (planned) => await planned.doGenerate(params) });
    if (answered === null) return null;
    const { at, model } = answered;
    return await run.journal.keep({ kind: 'model', name, at }, async () => keptResult(await (model ?? direct).doGenerate(params)));
  };
  return wrapLanguageModel({
    model: direct,
    middleware: {
      wrapGenerate: async ({ doGenerate, params }) => (await make(params)) ?? (await doGenerate()),
      wrapStream: async (stream) => {
        const result = await make(stream.params);
        return result === null ? await stream.doStream() : await streamOf({ ...stream, doGenerate: () => Promise.resolve(result) });
      },
    },
  });
}

type WrapStream = NonNullable<ReturnType<typeof simulateStreamingMiddleware>['wrapStream']>;

async function streamOf(stream: Parameters<WrapStream>[0]): Promise<Awaited<ReturnType<WrapStream>>> {
  const { wrapStream } = simulateStreamingMiddleware();
  return (await wrapStream?.(stream)) ?? (await stream.doStream());
}

/** What a call gave, without what is no JSON or of no use later. */
function keptResult({ content, finishReason, usage, warnings, providerMetadata, response }: GenerateResult): GenerateResult {
  const { id, modelId } = response ?? {};
  const named = { ...(id !== undefined && { id }), ...(modelId !== undefined && { modelId }) };
  return { content, finishReason, usage, warnings, ...(providerMetadata && { providerMetadata }), response: named };
}

function namedPrompt(name: string, { tools, ...prompt }: ModelPrompt): unknown {
  return [name, prompt, tools.map(({ name: tool, description, schema }) => [tool, description, schema])];
}

/** JSON of a digest of a call. */
function digestOf(call: unknown): string {
  const text = JSON.stringify(call, (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value));
  return JSON.stringify(createHash('sha256').update(text).digest('base64url'));
}

/** What a call sends, found by making it up to the point where it would leave. */
async function planCall(
  { endpoint, models }: { endpoint: EndpointModel; models: AgentRun['models'] },
  make: PlannedCall['make'],
): Promise<Pick<BatchWait, 'body' | 'maxMicroUsd'>> {
  let body: string | undefined;
  let maxMicroUsd = 0;
  const fetch: GuardedFetch = (_url, init) => {
    if (typeof init.body === 'string') body = init.body;
    return Promise.reject(new Error('It is sent with others'));
  };
  const source = openModelSource({ ...endpoint, fetch });
  const planned = wrapLanguageModel({
    model: buffered(source.modelFor(source.name)),
    middleware: {
      transformParams: ({ params }) => {
        const plan = models.plan(source, params);
        maxMicroUsd = plan.maxMicroUsd;
        return Promise.resolve(plan.params);
      },
    },
  });
  try {
    await make(planned);
  } catch (error) {
    if (body === undefined) throw error;
  }
  return { body: body ?? '', maxMicroUsd };
}

/** A model that answers at its end alone: batches have no streams. */
function buffered(model: SdkModel): SdkModel {
  return wrapLanguageModel({ model, middleware: simulateStreamingMiddleware() });
}

/** A model whose server has answered this. It fails with a `TaskFailure`. */
function modelAnswering(endpoint: EndpointModel, body: string): SdkModel {
  const answer = (): Response => new Response(body, { status: 200, headers: { 'content-type': 'application/json' } });
  const source: ModelSource = openModelSource({ ...endpoint, fetch: () => Promise.resolve(answer()) });
  const wrapGenerate = async ({ doGenerate }: { doGenerate: () => PromiseLike<GenerateResult> }): Promise<GenerateResult> => {
    try {
      return await doGenerate();
    } catch (error) {
      throw source.failureOf(error);
    }
  };
  return wrapLanguageModel({ model: source.modelFor(source.name), middleware: { wrapGenerate } });
}
