// Token counts where no provider counts: about four characters each.
const charactersPerToken = 4;

export const approximateTokens = (characters: number): number => Math.ceil(characters / charactersPerToken);
