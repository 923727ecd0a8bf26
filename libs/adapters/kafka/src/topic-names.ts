// The topics of an installation, without its prefix.
export const topicNames = ['inputs', 'dispatches', 'notices'] as const;
export type TopicName = (typeof topicNames)[number];
