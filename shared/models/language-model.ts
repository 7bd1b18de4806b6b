import type { wrapLanguageModel } from 'ai';
import type { AgentUsage } from '../config/index.ts';
import type { TaskFailure } from '../errors/index.ts';
import type { ProviderAccount } from '../providers/index.ts';

/** A model as the AI SDK has it. */
export type SdkModel = ReturnType<typeof wrapLanguageModel>;

/** What a model is called with, by the AI SDK's specification. */
export type CallOptions = Parameters<SdkModel['doStream']>[0];
export type GenerateResult = Awaited<ReturnType<SdkModel['doGenerate']>>;
export type StreamResult = Awaited<ReturnType<SdkModel['doStream']>>;
export type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never;
/** The tokens that a provider counted. */
export type ModelUsage = GenerateResult['usage'];

/** Where a model is called. */
export interface ModelSource {
  /** The model that is asked for. */
  readonly name: string;
  readonly account: ProviderAccount;
  /** Makes a model of the same endpoint by its name, which calls the endpoint itself. */
  readonly modelFor: (name: string) => SdkModel;
  /** Where a fallback is called that the configuration has at another endpoint; null for one of this endpoint. */
  readonly elsewhere?: (model: string) => ModelSource | null;
  /** Turns an error of the AI SDK into the failure of the attempt. The SDK's own holds the request, prompt included. */
  readonly failureOf: (error: unknown) => TaskFailure;
  /** What a call cost in millionths of a US dollar by the agent's own price of the model; undefined where it has none. */
  readonly ownCostOf: (usage: Pick<AgentUsage, 'inputTokens' | 'outputTokens'>) => number | undefined;
}
