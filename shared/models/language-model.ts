import type { AgentModel } from '../config/index.ts';

/** What a model is called with, by the AI SDK's specification. */
export type CallOptions = Parameters<AgentModel['doStream']>[0];
export type GenerateResult = Awaited<ReturnType<AgentModel['doGenerate']>>;
export type StreamResult = Awaited<ReturnType<AgentModel['doStream']>>;
export type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never;
/** The tokens that a provider counted. */
export type ModelUsage = GenerateResult['usage'];
