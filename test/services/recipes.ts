// Every server with a recipe.
import { recipe as kafka } from './kafka/recipe.ts';
import { recipe as mongo } from './mongo/recipe.ts';
import { recipe as redis } from './redis/recipe.ts';

export const recipes = [kafka, mongo, redis] as const;
