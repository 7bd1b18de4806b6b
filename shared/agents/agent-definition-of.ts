import type { AgentDefinition, AgentKind } from '../config/index.ts';

/** The definition of one kind of agent. */
export type DefinitionOf<Kind extends AgentKind> = Extract<AgentDefinition, { kind: Kind }>;
