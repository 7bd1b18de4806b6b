import { simulateStreamingMiddleware, wrapLanguageModel } from 'ai';
import { Response } from 'undici';
import type { Settings } from '../../config/index.ts';
import type { ModelSource, SdkModel } from '../../models/index.ts';
import { type BatchAnswer, type BatchTarget, type BatchWait, keyDigestOf } from '../../providers/index.ts';
import type { AgentRun, DefinitionOf } from '../agent-kind.ts';
import type { GuardedFetch } from '../guarded-fetch.ts';
import { type CalledModel, callModel, type ModelPrompt } from '../loop/model-step.ts';
import { type EndpointModel, openModelSource } from '../model-source.ts';

/** A call that may go by a batch. */
export interface BatchCall {
  /** The model. */
  readonly name: string;
  /** What it sends, once it does go so; null where its provider has no batches now. An earlier attempt may have sent it then. */
  readonly begin: (() => Promise<BatchWait>) | null;
}

/**
 * Waits for the answer of a batch, without a slot. Null where the call never went so, or there is too little time. It is called again by each attempt that comes
 * there.
 */
export type CallBatch = (call: BatchCall) => Promise<BatchAnswer | null>;

interface BatchedModel {
  readonly called: CalledModel;
  readonly model: EndpointModel;
  readonly providers: Settings['providers'] | undefined;
  /** A model that is asked for the format of the task's request. */
  readonly ask: (model: SdkModel) => SdkModel;
}

/** Has the calls of a run go by batches; undefined where its task has no `within`. */
export function batchCaller(
  { task, definition, callBatch, context, models }: AgentRun<DefinitionOf<'openai'>>,
  { called, model, providers = {}, ask }: BatchedModel,
): ((prompt: ModelPrompt) => Promise<CalledModel | null>) | undefined {
  if (callBatch === undefined) return undefined;
  const provider = Object.hasOwn(providers, model.account.name) ? providers[model.account.name] : undefined;
  const { name, baseUrl, apiKey } = model;
  const target = { provider: model.account.name, baseUrl, model: name, agent: task.agent, keyDigest: keyDigestOf(apiKey) };
  const terms = { discount: provider?.batchDiscount ?? BATCH_DISCOUNT, ownPrice: definition.priceMicroUsdPerMillion };
  return async (prompt) => {
    const begin = (): Promise<BatchWait> => waitOf({ called, model, ask, models, context, target, terms }, prompt);
    const answer = await callBatch({ name, begin: provider?.batch === true ? begin : null });
    if (answer === null) return null;
    if (answer.kind === 'answered') return { ...called, model: bufferedModel(sourceAnswering(model, answer.body)) };
    context.log.info(
      { event: 'batch.direct', batch: answer.batch, reason: answer.reason },
      'the model is called directly, and not by a batch',
    );
    return null;
  };
}

/** What [OpenAI](https://openai.com/api/pricing/) takes off. */
const BATCH_DISCOUNT = 0.5;

interface PlannedCall extends Pick<BatchedModel, 'called' | 'model' | 'ask'>, Pick<AgentRun, 'models' | 'context'> {
  readonly target: BatchTarget;
  readonly terms: Pick<BatchWait, 'discount'> & { ownPrice: BatchWait['ownPrice'] };
}

/** What a call sends, found by making it up to the point where it would leave. */
async function waitOf({ called, model, ask, models, context, target, terms }: PlannedCall, prompt: ModelPrompt): Promise<BatchWait> {
  let body: string | undefined;
  let maxMicroUsd = 0;
  const fetch: GuardedFetch = (_url, init) => {
    if (typeof init.body === 'string') body = init.body;
    return Promise.reject(new Error('It is sent with others'));
  };
  const source = openModelSource({ ...model, fetch });
  const planned = wrapLanguageModel({
    model: bufferedModel(source),
    middleware: {
      transformParams: ({ params }) => {
        const plan = models.plan(source, params);
        maxMicroUsd = plan.maxMicroUsd;
        return Promise.resolve(plan.params);
      },
    },
  });
  try {
    await callModel({ ...called, model: ask(planned) }, prompt, context, () => undefined);
  } catch (error) {
    if (body === undefined) throw error;
  }
  const { discount, ownPrice } = terms;
  return { target, body: body ?? '', maxMicroUsd: Math.ceil(maxMicroUsd * (1 - discount)), discount, ...(ownPrice && { ownPrice }) };
}

/** A model that answers at its end alone: batches have no streams. */
function bufferedModel(source: ModelSource): SdkModel {
  return wrapLanguageModel({ model: source.modelFor(source.name), middleware: simulateStreamingMiddleware() });
}

/** A model whose server has answered this. */
function sourceAnswering(model: EndpointModel, body: string): ModelSource {
  const answer = (): Response => new Response(body, { status: 200, headers: { 'content-type': 'application/json' } });
  return openModelSource({ ...model, fetch: () => Promise.resolve(answer()) });
}
