from .knowledge_base import KnowledgeBase
