/**
 * Tests of agents without Redis and without a fleet: `import { runAgent } from 'muster-fleet/testing'`. An agent runs once, in this process, with a
 * context as a worker gives it; what it did comes back. Models are functions of the test, or models of the AI SDK. Runs on Node 20.
 */
export type { FakeModel, ModelCall, ModelAnswer } from './fake-model.ts';
export { type AgentRunResult, runAgent, type RunAgentOptions, type TestableAgent } from './run-agent.ts';
