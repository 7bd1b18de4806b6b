/** What a colour says of a state or a series. */
export type Tone = 'idle' | 'busy' | 'good' | 'warn' | 'bad';
