/** Something that only the person in front of the machine can mend; the message says how. */
export class SetUpProblem extends Error {}
